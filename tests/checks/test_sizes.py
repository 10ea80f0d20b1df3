"""ConfigMaps over 1 MiB."""

import pytest

from support.findings import places
from wqc.checks import sizes
from wqc.contract.limits import CONFIG_MAP_BYTES
from wqc.diagnostics.source import Source
from wqc.pipeline import Options, build

HEAD = "workflow w\n"
TAIL = 'worker k { image = "r/k:1"%s }\nqueue q { from = s, worker = k%s }\n'
ITEMS = 'source s: items { items = ["a"] }\n'


def script(size: int) -> str:
    return f', run = """{"x" * size}"""'


def test_a_script_that_fits_and_one_that_does_not() -> None:
    assert places(HEAD + ITEMS + TAIL % (script(CONFIG_MAP_BYTES - 4000), ""), "WQ605") == []
    (told,) = places(HEAD + ITEMS + TAIL % (script(CONFIG_MAP_BYTES), ""), "WQ605")
    assert told.startswith("WQ605 4:7 the ConfigMap `w-q` would have 1,05")
    assert told.endswith(" bytes, and 1,048,576 fit <q>")


def test_literal_items() -> None:
    many = ", ".join(f'"{number:0100}"' for number in range(10_500))
    (told,) = places(HEAD + f"source s: items {{ items = [{many}] }}\n" + TAIL % ("", ""), "WQ605")
    assert told.endswith("<s>")


def test_two_pods_environment() -> None:
    text = (
        HEAD + ITEMS + TAIL % (f', env = {{ A = "{"a" * 600_000}" }}', f', env = {{ B = "{"b" * 600_000}" }}')
    )
    assert len(places(text, "WQ605")) == 1


def test_the_managers_program() -> None:
    queues = "".join(f"queue q{n} {{ from = {f'q{n - 1}' if n else 's'}, worker = k }}\n" for n in range(300))
    text = HEAD + ITEMS + 'worker k { image = "r/k:1" }\n' + queues
    size = next(
        each.size
        for each in build(Source("w.wq", text), Options()).objects
        if each.name == "w-manager" and each.size
    )
    assert size / 300 < sizes._NODE, "what is assumed of a node holds"


@pytest.mark.parametrize("character", ["x", "\\u0001", "\\n", "é", "\\\\", "日", "'", "\\ud83d\\ude00"])
def test_no_text_takes_more_than_is_assumed(character: str) -> None:
    """Otherwise a check without rendering would miss what a build finds."""
    length = 2000
    text = (
        HEAD + ITEMS + TAIL % (f', run = "{character * length}", env = {{ A = "{character * length}" }}', "")
    )
    found = {each.name: each.size for each in build(Source("w.wq", text), Options()).objects if each.size}
    assert found["w-q"] < 2 * length * sizes._WORST + 4 * sizes._NODE
