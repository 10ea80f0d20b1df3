"""The tests run the wheel that users get, and it carries all that wqc reads at run time."""

import sys
from importlib.metadata import entry_points, files
from pathlib import Path

import wqc

REPOSITORY = Path(__file__).resolve().parents[2]


def shipped(folder: str) -> set[str]:
    return {str(path) for path in files("wqc") or [] if str(path).startswith(f"wqc/{folder}/")}


def standing(folder: str, below: str = "") -> set[str]:
    paths = (REPOSITORY / below / folder).rglob("*")
    return {
        f"wqc/{folder}/{path.relative_to(REPOSITORY / below / folder)}"
        for path in paths
        if path.is_file() and path.name != ".gitkeep" and "__pycache__" not in path.parts
    }


def test_the_installed_package_is_what_is_tested() -> None:
    assert Path(wqc.__file__).is_relative_to(sys.prefix)


def test_grammar_templates_and_library_are_in_the_wheel() -> None:
    assert standing("grammar") <= shipped("grammar")
    assert standing("templates") <= shipped("templates")
    assert standing("std", below="wqc") <= shipped("std")


def test_the_command_is_installed() -> None:
    (script,) = entry_points(group="console_scripts", name="wqc")
    assert script.value == "wqc.cli.main:main"
