"""What a reviewer sees when an example changes: `wqc build --check` of it, edited, against golden/.

usage: show_change.py EXAMPLE OLD NEW    OLD must stand in the file exactly once; the exit code is wqc's
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent


def main(example: str, old: str, new: str) -> int:
    text = (ROOT / "examples" / f"{example}.wq").read_text(encoding="utf-8")
    if text.count(old) != 1:
        print(f"{old!r} stands {text.count(old)} times in {example}.wq", file=sys.stderr)
        return 2
    with TemporaryDirectory() as folder:
        workflow = Path("workflows", f"{example}.wq")
        Path(folder, workflow).parent.mkdir()
        Path(folder, workflow).write_text(text.replace(old, new), encoding="utf-8")
        shutil.copytree(ROOT / "golden" / example, Path(folder, "deploy", example))
        return subprocess.run(
            ["wqc", "build", workflow, "-o", "deploy", "--check"], cwd=folder, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
