"""Python as it is written here: means what it should, and `ruff format` has nothing to change."""

import ast
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wqc.emit.encoded import Encoded
from wqc.emit.python_text import WIDTH, call, literal

ROOT = Path(__file__).resolve().parents[2]
STRINGS = st.text() | st.text(st.sampled_from("ab \"'\\\n\t\0{}$é\u2019"), max_size=12)
LONG = st.lists(st.text(st.sampled_from("abcdefgh.\"'\\="), min_size=1, max_size=30), max_size=12).map(
    " ".join
)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | STRINGS
)
LITERALS = st.recursive(
    SCALARS,
    lambda inner: st.tuples(inner) | st.tuples(inner, inner) | st.dictionaries(STRINGS, inner, max_size=3),
)
NAMES = st.text(st.sampled_from("abcxyz_"), min_size=1, max_size=40).map(lambda name: f"n{name}")
VALUES = (
    LONG | st.dictionaries(LONG, LONG, max_size=3) | st.lists(st.tuples(LONG, LONG), max_size=3).map(tuple)
)
CALLS = st.tuples(NAMES, st.lists(VALUES, min_size=1, max_size=3), st.dictionaries(NAMES, VALUES, max_size=3))


@given(LITERALS)
@example("\ud800")
@example(("a",))
def test_a_literal_is_read_as_what_it_was(value: Any) -> None:
    written = literal(value)
    assert ast.literal_eval(written) == value
    assert written.isascii()
    assert "\n" not in written


@given(CALLS)
def test_a_call_has_the_arguments_that_it_was_given(made: tuple[str, list[Any], dict[str, Any]]) -> None:
    name, positional, keywords = made
    written = ast.parse(call(name, tuple(positional), keywords, WIDTH), mode="eval").body
    assert isinstance(written, ast.Call)
    assert [ast.literal_eval(each) for each in written.args] == positional
    assert {each.arg: ast.literal_eval(each.value) for each in written.keywords} == keywords


def words(chance: random.Random) -> str:
    letters = "abcdefgh.\"'\\="
    lengths = (chance.randint(1, 30) for _ in range(chance.randint(0, 9)))
    return " ".join("".join(chance.choices(letters, k=length)) for length in lengths)


def value(chance: random.Random) -> Any:
    match chance.randrange(4):
        case 0:
            return {words(chance)[:20]: words(chance) for _ in range(chance.randrange(3))}
        case 1:
            return tuple((words(chance), words(chance)) for _ in range(chance.randrange(3)))
        case _:
            return words(chance)


@pytest.mark.parametrize("seed", range(8))
def test_ruff_has_nothing_to_change(seed: int) -> None:
    chance = random.Random(seed)
    statements = []
    for _ in range(200):
        name = "n" + "".join(chance.choices("xyz_", k=chance.randint(1, 40)))
        positional = tuple(value(chance) for _ in range(chance.randint(1, 3)))
        keywords = {f"k{number}": value(chance) for number in range(chance.randrange(3))}
        statements.append(f"{name} = {call(name, positional, keywords, WIDTH - len(name) - 3)}\n")
    ruff = [sys.executable, "-m", "ruff", "format", "--config", str(ROOT / "pyproject.toml"), "--diff", "-"]
    done = subprocess.run(ruff, input="".join(statements), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_code_stands_as_it_is() -> None:
    assert call("f", (Encoded('channel["email"].failed'),), {"otherwise": "drop"}, WIDTH) == (
        'f(channel["email"].failed, otherwise="drop")'
    )
