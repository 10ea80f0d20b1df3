"""The grammar file is the language's definition, and the tables in the package are what it says."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import wqc.language.tables
from wqc.language.builder import Builder

TOOL = Path(__file__).parents[2] / "tools" / "build_tables.py"


def test_the_grammar_is_unambiguous_and_the_tables_are_current() -> None:
    done = subprocess.run([sys.executable, str(TOOL), "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_package_has_these_tables() -> None:
    spec = importlib.util.spec_from_file_location("build_tables", TOOL)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    packaged = Path(str(wqc.language.tables.__file__)).read_text(encoding="utf-8")
    assert packaged == tool.tables()


def test_each_production_is_built() -> None:
    names = {name for _, _, name in wqc.language.tables.PRODUCTIONS if name}
    assert sorted(name for name in names if not callable(getattr(Builder, name, None))) == []
