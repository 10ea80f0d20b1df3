"""Whatever an item is called and holds: a real process gets it as it is, and no shell ever reads it."""

import asyncio
import contextlib
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings

from support.hostile import SNIPPETS, items
from support.localrun import queue_files, until_idle
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.text import DEEPEST, decode

SCRIPT = """
cp "$WORK_ITEM_FILE" "$(mktemp {out}/XXXXXXXX)"
for field in "$WORK_ITEM_DIR"/*; do [ ! -e "$field" ] || cp "$field" "$(mktemp {fields}/XXXXXXXX)"; done
"""
ALL = {snippet: {"text": snippet, snippet: snippet} for snippet in SNIPPETS}


def same(texts: Iterable[str]) -> Counter[str]:
    """JSON texts that say the same are the same."""
    return Counter(json.dumps(json.loads(text), sort_keys=True) for text in texts)


def field_texts(data: Any) -> Iterator[bytes]:
    """What the files of an item hold, after the words of the language's reference."""
    for key, value in data.items() if isinstance(data, dict) else ():
        if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,62}", key) and not isinstance(value, list):
            text = value if isinstance(value, str) else "" if value is None else json.dumps(value)
            with contextlib.suppress(UnicodeEncodeError):  # no file can hold it
                yield text.encode()


@settings(deadline=None, max_examples=4)
@given(items(least=5, most=15))
@example(ALL)
def test_a_process_gets_what_the_source_has(given_items: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        out, fields = folder / "out", folder / "fields"
        out.mkdir()
        fields.mkdir()
        workflow = Workflow("hostile")
        first = workflow.queue("first", workflow.source("names"))
        workflow.queue("second", workflow.merger("all", {"x": first}))
        files = {
            "first": queue_files("first", SCRIPT.format(out=out, fields=fields), at_once=8),
            "second": queue_files("second", SCRIPT.format(out=out, fields=fields), at_once=8),
        }
        status = asyncio.run(until_idle(workflow, folder / "s", files, {"names": given_items}))
        assert [queue.done for queue in status.queues] == [len(given_items)] * 2
        everything = [data for data in given_items.values() for _ in status.queues]
        assert same(path.read_text() for path in out.iterdir()) == same(map(json.dumps, everything))
        said = Counter(path.read_bytes() for path in fields.iterdir())
        assert said == Counter(text for data in everything for text in field_texts(data))
        scripts = {path.parent.name: path.read_text() for path in folder.glob("s/jobs/*/run.sh")}
        assert len(scripts) == len(everything)
        assert len({text.replace(name, "") for name, text in scripts.items()}) == 1, (
            "nothing of an item is in it"
        )
        assert not list(folder.rglob("canary"))


def test_deep_data_goes_all_the_way_and_a_node_fails_it_like_any_other(tmp_path: Path) -> None:
    def nested(levels: int) -> Any:
        return json.loads("[" * levels + "]" * levels)

    workflow = Workflow("deep")
    kept = workflow.filter("kept", workflow.source("names"), "size(item.data) == 1")
    unsure = workflow.filter("unsure", kept, "item.data.kind == 'a'")
    workflow.queue("failed", workflow.queue("first", unsure.failed).failed)
    files = {"first": queue_files("first", "exit 1", retries=0), "failed": queue_files("failed", "true")}
    taken = {"deep": nested(DEEPEST), "flat": [1]}
    status = asyncio.run(until_idle(workflow, tmp_path / "s", files, {"names": taken}))
    assert [(queue.done, queue.failed, queue.blocked) for queue in status.queues] == [(0, 2, ""), (2, 0, "")]


@pytest.mark.parametrize("levels", [DEEPEST + 1, 990, 1000, 100_000])
def test_what_is_nested_deeper_is_refused_in_words(levels: int) -> None:
    for opening, inmost, closing in (("[", "", "]"), ('{"a":', "1", "}")):
        assert decode(opening * DEEPEST + inmost + closing * DEEPEST)
        with pytest.raises(ValueError, match="nested deeper than 500 levels"):
            decode(opening * levels + inmost + closing * levels)


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 400 + ".0"])
def test_a_number_that_becomes_infinite_is_refused_in_words(number: str) -> None:
    assert decode("[1e308, -1.5, 1e-400]") == [1e308, -1.5, 0.0]
    with pytest.raises(ValueError, match=f"^{number[:40]} is larger than any number"):
        decode(f'{{"a": [{number}]}}')
