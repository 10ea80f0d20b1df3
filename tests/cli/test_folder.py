"""The output folder against everything that may happen to it."""

import errno
import fcntl
import itertools
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from support.disk import mounted
from wqc.cli import folder, staging
from wqc.cli.ending import Trouble
from wqc.emit.lock import LOCK, parse, sealed

FIRST = sealed({"a.yaml": "a: 1\n", "b.yaml": "b: 1\n", "gone.yaml": "x: 1\n"}, "w", {"q": "never"})
SECOND = sealed({"a.yaml": "a: 2\n", "b.yaml": "b: 1\n", "new.yaml": "n: 1\n"}, "w", {"q": "never", "p": ""})
THIRD = sealed({"a.yaml": "a: 3\n", "new.yaml": "n: 3\n", "third.yaml": "t: 1\n"}, "w", {"q": "never"})


def contents(place: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in place.iterdir()} if place.exists() else {}


def stamps(place: Path) -> dict[str, tuple[int, int]]:
    paths = [place, *place.iterdir()]
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_ino) for path in paths}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "out" / "w"


@pytest.fixture
def built(place: Path) -> Path:
    folder.write(place, FIRST, force=False)
    return place


def refused(place: Path, files: Mapping[str, str], words: str, force: bool = False) -> None:
    before = contents(place)
    with pytest.raises(Trouble) as trouble:
        folder.write(place, files, force=force)
    assert str(trouble.value) == words.format(place=place)
    assert contents(place) == before


def test_a_first_build_makes_the_folder(place: Path) -> None:
    plan = folder.write(place, FIRST, force=False)
    assert contents(place) == FIRST
    assert list(plan.write) == ["a.yaml", "b.yaml", "gone.yaml", LOCK]


def test_a_second_build_touches_nothing(built: Path) -> None:
    before = stamps(built)
    assert not folder.write(built, FIRST, force=False).changes
    assert stamps(built) == before


def test_only_what_differs_is_written_and_what_is_stale_goes(built: Path) -> None:
    before = stamps(built)
    plan = folder.write(built, SECOND, force=False)
    assert (list(plan.write), plan.remove, plan.unchanged) == (
        ["a.yaml", "new.yaml", LOCK],
        ("gone.yaml",),
        1,
    )
    assert contents(built) == SECOND
    assert stamps(built)[str(built / "b.yaml")] == before[str(built / "b.yaml")]


def test_the_files_of_others_stay(built: Path) -> None:
    (built / "notes.md").write_text("mine")
    folder.write(built, SECOND, force=False)
    assert contents(built) == {**SECOND, "notes.md": "mine"}


def test_a_foreign_file_is_refused_by_name_even_by_force(built: Path) -> None:
    (built / "new.yaml").write_text("mine")
    words = (
        "in the way, and not written by wqc: {place}/new.yaml; move this away, or build into another folder"
    )
    refused(built, SECOND, words)
    refused(built, SECOND, words, force=True)


def test_a_file_changed_by_hand_is_overwritten_only_by_force(built: Path) -> None:
    (built / "a.yaml").write_text("a: mine\n")
    (built / "gone.yaml").write_text("mine\n")
    words = (
        "changed by hand since wqc wrote it: {place}/a.yaml, {place}/gone.yaml; "
        "--check shows the difference, --force gives it up"
    )
    refused(built, SECOND, words)
    folder.write(built, SECOND, force=True)
    assert contents(built) == SECOND


def test_a_file_that_was_deleted_comes_back(built: Path) -> None:
    (built / "b.yaml").unlink()
    folder.write(built, FIRST, force=False)
    assert contents(built) == FIRST


def test_earlier_queues_come_from_the_lock(built: Path) -> None:
    folder.write(built, SECOND, force=False)
    assert folder.earlier_queues(built) == {"p": "", "q": "never"}
    assert folder.earlier_queues(built.parent / "other") == {}


def test_comparing_changes_nothing(built: Path, tmp_path: Path) -> None:
    before = stamps(built)
    plan, present = folder.compare(built, SECOND)
    assert plan.changes
    assert present["a.yaml"] == b"a: 1\n"
    assert stamps(built) == before
    assert folder.compare(tmp_path / "none", FIRST)[0].changes
    assert not (tmp_path / "none").exists()


# --- links, folders, pipes ---


@pytest.mark.parametrize("name", ["a.yaml", "gone.yaml", LOCK])
def test_a_link_is_refused(built: Path, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious")
    (built / name).unlink()
    (built / name).symlink_to(outside)
    refused(
        built,
        SECOND,
        f"{{place}}/{name} is a symbolic link: wqc writes plain files only; remove it",
        force=True,
    )
    assert outside.read_text() == "precious"


def test_a_folder_that_is_a_link_is_refused(place: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    place.parent.mkdir()
    place.symlink_to(tmp_path / "elsewhere")
    words = "{place} is a symbolic link: wqc writes only inside the folder given with -o; remove it"
    refused(place, FIRST, words)
    assert contents(tmp_path / "elsewhere") == {}


def test_an_output_folder_that_is_itself_a_link_is_the_users_choice(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    folder.write(tmp_path / "out" / "w", FIRST, force=False)
    assert contents(tmp_path / "real" / "w") == FIRST


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_a_folder_or_pipe_in_the_way_is_refused(built: Path, make: Callable[[Path], None]) -> None:
    make(built / "new.yaml")
    with pytest.raises(
        Trouble, match=r"new\.yaml is no plain file, but a build writes one of that name; remove it$"
    ):
        folder.write(built, SECOND, force=True)


def test_a_file_where_the_folder_should_be(place: Path) -> None:
    place.parent.mkdir()
    place.write_text("x")
    with pytest.raises(Trouble, match=r"w is a file, but a build makes a folder of that name; move it away$"):
        folder.write(place, FIRST, force=False)
    with pytest.raises(Trouble, match=r"cannot make the folder .*: not a directory$"):
        folder.write(place / "below", FIRST, force=False)


def test_names_never_leave_the_folder(built: Path) -> None:
    for name in ("../x.yaml", "/etc/passwd", "a/b.yaml", "..", ".hidden", "", LOCK, "a\0b"):
        with pytest.raises(ValueError, match="not a name for a file"):
            sealed({name: ""}, "w", {})
    text = (built / LOCK).read_text()
    (built / LOCK).write_text(text.replace("gone.yaml", "../../precious"))
    (built.parent.parent / "precious").write_text("x: 1\n")
    words = 'cannot use {place}/wqc.lock.json: "../../precious" is not a name for a file of the output'
    refused(built, SECOND, words, force=True)


# --- the lock's file ---


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "it is not JSON: restore it from version control"),
        ("[" * 100_000, "it is not JSON: restore it from version control"),
        ("{}", "fields are missing: restore it from version control"),
        ('{"format_version": 99}', "it has format 99; this wqc 0.1.0 knows 1: use a newer one"),
        (
            '{"written_by": "wqc 1", "workflow": "w", "queues": ["q"], "rework": ["q"], "files": {}}',
            "what the queues have as `rework` is no map of words",
        ),
        ("{\n<<<<<<< HEAD\n", "it has the marks of a merge conflict: take either side, then build again"),
        ("\udcff", "it is not UTF-8"),
    ],
)
def test_a_damaged_lock_is_told_not_guessed(built: Path, text: str, words: str) -> None:
    (built / LOCK).write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(Trouble) as trouble:
        folder.write(built, SECOND, force=True)
    assert str(trouble.value) == f"cannot use {built / LOCK}: {words}"


def test_the_lock_is_read_as_it_was_written() -> None:
    lock = parse(SECOND[LOCK])
    assert (lock.workflow, lock.queues, list(lock.files)) == (
        "w",
        {"p": "", "q": "never"},
        ["a.yaml", "b.yaml", "new.yaml"],
    )
    assert (
        sealed({name: SECOND[name] for name in reversed(lock.files)}, "w", {"p": "", "q": "never"})[LOCK]
        == SECOND[LOCK]
    )


# --- failures ---

CALLS = ("open", "rename", "fsync")


@pytest.mark.parametrize("failure", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()])
def test_a_failure_at_any_call_leaves_the_folder_as_it_was(
    built: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    before, points = contents(built), 0
    while _fails_at(points, built, monkeypatch, failure):
        assert contents(built) == before
        points += 1
    assert points > 10
    assert contents(built) == SECOND


def _fails_at(point: int, place: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException) -> bool:
    def fail() -> None:
        raise failure

    with monkeypatch.context() as patch:
        _at_call(point, fail, patch)
        try:
            folder.write(place, SECOND, force=False)
        except (Trouble, KeyboardInterrupt):
            return True
    return False


def test_a_build_killed_at_any_call_is_healed_by_the_next(place: Path) -> None:
    for point in range(1_000):
        for follower in (SECOND, FIRST, THIRD):
            _empty(place)
            folder.write(place, FIRST, force=False)
            killed = _build_killed_at(point, place)
            folder.write(place, follower, force=False)
            assert contents(place) == follower, point
        if not killed:
            assert point > 10
            return


def _empty(place: Path) -> None:
    for path in place.iterdir() if place.exists() else ():
        path.unlink()


def _build_killed_at(point: int, place: Path) -> bool:
    pid = os.fork()
    if pid == 0:
        _at_call(point, lambda: os._exit(9), pytest.MonkeyPatch())
        folder.write(place, SECOND, force=False)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9


def _at_call(point: int, act: Callable[[], None], patch: pytest.MonkeyPatch) -> None:
    """Do something else instead of the call of this number that changes a disk."""
    calls = itertools.count()

    def counted(real: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **keywords: object) -> object:
            if next(calls) == point:
                act()
            return real(*args, **keywords)

        return call

    for name in CALLS:
        patch.setattr(os, name, counted(getattr(os, name)))


def test_a_failed_first_build_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(staging.os, "fsync", full)
    with pytest.raises(Trouble) as trouble:
        folder.write(tmp_path / "x" / "y" / "w", FIRST, force=False)
    assert str(trouble.value) == (
        f"cannot write {tmp_path}/x/y/w: no space left on device; nothing was changed"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=64k") as disk:
        folder.write(disk / "w", FIRST, force=False)
        large = sealed({"a.yaml": "a: 2\n", "large.yaml": "x" * 200_000}, "w", {"q": "never"})
        refused(disk / "w", large, "cannot write {place}: no space left on device; nothing was changed")


def test_a_read_only_folder(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=1m") as disk:
        folder.write(disk / "w", FIRST, force=False)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        assert not folder.write(disk / "w", FIRST, force=False).changes
        refused(disk / "w", SECOND, "cannot write {place}: read-only file system; nothing was changed")
        with pytest.raises(Trouble, match=r"cannot make the folder .*: read-only file system$"):
            folder.write(disk / "other", FIRST, force=False)


# --- two builds at once ---


@pytest.fixture
def busy(built: Path) -> Iterator[int]:
    descriptor = os.open(built, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    yield descriptor
    os.close(descriptor)


def test_a_second_build_waits_for_the_first(built: Path, busy: int) -> None:
    timer = threading.Timer(0.3, fcntl.flock, (busy, fcntl.LOCK_UN))
    timer.start()
    started = time.monotonic()
    folder.write(built, SECOND, force=False)
    assert time.monotonic() - started >= 0.25
    assert contents(built) == SECOND
    timer.join()


def test_it_does_not_wait_for_ever(built: Path, busy: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "WAIT", 0.1)
    refused(built, SECOND, "another wqc is busy in {place}; try again when it has ended")


def test_many_builds_at_once_end_with_one_of_them(place: Path) -> None:
    builds = [FIRST, SECOND, THIRD] * 3
    threads = [
        threading.Thread(target=folder.write, args=(place, files), kwargs={"force": False})
        for files in builds
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert contents(place) in [FIRST, SECOND, THIRD]
