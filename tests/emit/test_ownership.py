"""Any sequence of builds and edits by hand: what is wqc's is up to date, what isn't is as it was."""

import json
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from wqc.emit.lock import LOCK, NotALock, parse, render, sealed
from wqc.emit.ownership import plan

NAMES = st.sampled_from(["a.yaml", "b.yaml", "c.yaml"])
FILES = st.dictionaries(NAMES, st.sampled_from(["1", "2"]))
BUILD = st.tuples(st.just("build"), FILES)
FORCED = st.tuples(st.just("force"), FILES)
EDIT = st.tuples(st.just("edit"), st.tuples(NAMES, st.sampled_from([b"1", b"mine", None])))


@given(st.lists(BUILD | FORCED | EDIT, max_size=12))
def test_any_sequence(steps: list[tuple[str, object]]) -> None:
    present: dict[str, bytes] = {}
    edited: set[str] = set()
    for kind, what in steps:
        if kind == "edit":
            name, content = what  # type: ignore[misc]
            present.pop(name, None)
            if content is not None:
                present[name] = content
                edited.add(name)
            continue
        _build(present, sealed(what, "w", {}), kind == "force", edited)  # type: ignore[arg-type]


def _build(present: dict[str, bytes], files: dict[str, str], force: bool, edited: set[str]) -> None:
    locks = [parse(present[LOCK].decode())] if LOCK in present else []
    owned = {name for lock in locks for name in lock.files}
    todo = plan(present, locks, files)
    assert set(todo.foreign) <= edited - owned
    assert set(todo.edited) <= edited & owned
    if todo.foreign or (todo.edited and not force):
        return
    others = {name: text for name, text in present.items() if name not in owned and name not in files}
    present.update(todo.write)
    for name in todo.remove:
        del present[name]
    assert {name: text.decode() for name, text in present.items() if name in files} == files
    assert {name: text for name, text in present.items() if name not in files} == others
    assert not plan(present, [parse(files[LOCK])], files).changes
    edited -= set(files)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(["format_version", "written_by", "workflow", "queues", "rework", "files"])
            | st.text(),
            inner,
        )
    ),
)


@given(JSON.map(json.dumps) | st.text())
def test_any_text_is_a_lock_or_told_why_not(text: str) -> None:
    with suppress(NotALock):
        lock = parse(text)
        assert parse(render(lock)).files == lock.files
