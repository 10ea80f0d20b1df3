"""Every test that the page of promises names exists."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "promises.md"
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")


def texts_of(file: Path) -> str:
    """The file's, and what it takes over from the suite of all stores."""
    text = file.read_text(encoding="utf-8")
    if "(StoreSuite)" in text:
        text += (ROOT / "tests" / "support" / "store_suite.py").read_text(encoding="utf-8")
    return text


def test_every_named_test_is_there() -> None:
    named = NAMED.findall(PAGE.read_text(encoding="utf-8"))
    assert len(named) > 150
    missing = []
    for path, test in named:
        file = ROOT / "tests" / path
        if not file.is_file() or not re.search(rf"^ *(async )?def {test}\(", texts_of(file), re.M):
            missing.append(f"{path}::{test}")
    assert missing == []


def test_every_clause_names_one() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    clauses = [line for line in lines if line.startswith("| ") and not line.startswith("| clause |")]
    assert [line for line in clauses if not NAMED.search(line)] == []
    headings = [line for line in lines if re.match(r"## \d+\. ", line)]
    assert [int(line.split()[1].rstrip(".")) for line in headings] == list(range(1, 20))
