"""Every example is clean, laid out, documented and in golden/."""

import io
import os
import re
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from wqc.cli.main import main

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.wq"))
ENVIRONMENTS = sorted((ROOT / "examples" / "environments").glob("*.wqp"))
LIBRARY = sorted((ROOT / "wqc" / "std").glob("*.wq"))
WANTED = {
    "anonymise",
    "build_farm",
    "coarse",
    "environments",
    "fine",
    "generic_worker",
    "newsletter",
    "newsletter_ambassador",
    "orders",
    "own_source",
    "pubsub_publish",
    "pubsub_upload",
    "regions",
    "signup",
    "thumbnails",
    "transcode",
}

each_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)


def wqc(*arguments: str | os.PathLike[str]) -> tuple[int, str]:
    """Exit code and all output, in the repository's root."""
    output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with redirect_stdout(output), redirect_stderr(output):
        status = main([os.fspath(argument) for argument in arguments])
    output.seek(0)
    return int(status), output.read()


def test_every_system_has_its_example() -> None:
    assert {path.stem for path in EXAMPLES} == WANTED


@each_example
def test_clean(example: Path) -> None:
    """Neither errors nor warnings."""
    status, said = wqc("check", example)
    assert status == 0
    assert said.startswith("no errors, no warnings")


@each_example
def test_every_rate_is_known(example: Path) -> None:
    """A note says where a rate is unknown; a batch's messages are there from the start."""
    _, said = wqc("check", "--notes", "--format", "json", example)
    assert "WQ506" not in said


@pytest.mark.parametrize("path", [*EXAMPLES, *LIBRARY], ids=lambda path: path.stem)
def test_laid_out(path: Path) -> None:
    assert wqc("fmt", "--check", path)[0] == 0


@each_example
def test_says_what_it_is_for(example: Path) -> None:
    assert re.match(r"# [A-Z].{40,}", example.read_text(encoding="utf-8"))


@each_example
def test_the_workflow_has_the_files_name(example: Path) -> None:
    assert re.search(rf"^workflow {example.stem}\b", example.read_text(encoding="utf-8"), re.M)


@each_example
def test_has_a_page(example: Path) -> None:
    page = ROOT / "docs" / "guide" / "examples" / f"{example.stem}.md"
    assert f"<!-- $ cat examples/{example.name} -->" in page.read_text(encoding="utf-8")


def test_every_page_has_an_example() -> None:
    pages = {path.stem for path in (ROOT / "docs" / "guide" / "examples").glob("*.md")}
    assert pages - {"index"} == WANTED


@each_example
def test_is_in_golden(example: Path) -> None:
    assert (ROOT / "golden" / example.stem / "kustomization.yaml").is_file()


@pytest.mark.parametrize("params", ENVIRONMENTS, ids=lambda path: path.stem)
def test_every_environment_is_clean(params: Path) -> None:
    example = ROOT / "examples" / "environments.wq"
    status, said = wqc("check", "--params", params, example)
    assert status == 0
    assert said.startswith("no errors, no warnings")
