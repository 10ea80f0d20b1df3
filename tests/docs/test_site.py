"""The documentation builds into a site: every page is in its navigation, links and headings exist."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_site_builds_without_a_warning_and_can_be_searched(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={"PATH": "", "NO_MKDOCS_2_WARNING": "1", "LC_ALL": "C.UTF-8"},
    )
    assert ran.returncode == 0, ran.stdout
    assert "WARNING" not in ran.stdout
    index = json.loads((tmp_path / "search" / "search_index.json").read_text(encoding="utf-8"))
    found = {page["location"].partition("#")[0] for page in index["docs"]}
    assert {"guide/first.html", "guide/examples/thumbnails.html", "reference/findings.html"} <= found
    unread = [page.name for page in tmp_path.rglob("*.html") if "```" in page.read_text(encoding="utf-8")]
    assert unread == [], "these show a block's marks instead of the block"
