"""The files of a directory: which ones are items, which are complete, and what a share does that is gone."""

import asyncio
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from support.need import unavailable
from wqc.runtime.sources.files import FilesSource
from wqc.runtime.sources.patient import patient
from wqc.runtime.sources.source import Listing, NoSuchItem, SourceError


def listing(source: FilesSource) -> Listing:
    return asyncio.run(source.list())


def data(source: FilesSource, name: str) -> Any:
    return json.loads(asyncio.run(source.get(name)))


def write(path: Path, content: str = "", age: float = 3600) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    then = time.time() - age
    os.utime(path, (then, then))
    return path


def test_the_files_that_match_below_the_folder(tmp_path: Path) -> None:
    for name in ("b.mp4", "a.mp4", "sub/c.mp4", "notes.txt", ".part.mp4", "sub/.snapshot/d.mp4"):
        write(tmp_path / name)
    assert list(listing(FilesSource(tmp_path, "*.mp4")).versions) == ["a.mp4", "b.mp4"]
    assert list(listing(FilesSource(tmp_path, "**/*.mp4")).versions) == ["a.mp4", "b.mp4", "sub/c.mp4"]


def test_what_an_item_says_of_its_file(tmp_path: Path) -> None:
    path = write(tmp_path / "sub" / "a b.txt", "four")
    os.utime(path, (0, 1_700_000_000.5))
    source = FilesSource(tmp_path, "**")
    assert listing(source).versions == {"sub/a b.txt": "4-1700000000500000000"}
    assert data(source, "sub/a b.txt") == {
        "path": str(path),
        "name": "sub/a b.txt",
        "size": 4,
        "modified": "2023-11-14T22:13:20Z",
    }


def test_a_file_that_is_being_written_is_not_listed_yet(tmp_path: Path) -> None:
    source = FilesSource(tmp_path, quiet=0.4)
    (tmp_path / "film").write_text("half")
    assert listing(source) == Listing({}, settling=True)
    time.sleep(0.3)
    (tmp_path / "film").write_text("half and more")
    assert listing(source) == Listing({}, settling=True)
    time.sleep(0.5)
    assert list(listing(source).versions) == ["film"]


def test_a_file_that_is_renamed_in_is_complete_at_once(tmp_path: Path) -> None:
    source = FilesSource(tmp_path, quiet=60)
    write(tmp_path / ".film.part", "whole")
    assert listing(source) == Listing({})
    (tmp_path / ".film.part").rename(tmp_path / "film")
    assert list(listing(source).versions) == ["film"]


def test_a_file_from_a_clock_ahead_of_ours(tmp_path: Path) -> None:
    """Its time says nothing: it is complete once it has stayed as it is for long enough on our clock."""
    write(tmp_path / "archived")
    write(tmp_path / "soon", age=-3)
    write(tmp_path / "next year", age=-3600 * 24 * 365)
    source = FilesSource(tmp_path, quiet=1.0)
    for content in ("half", "half and more"):
        write(tmp_path / "film", content, age=-30)
        found = listing(source)
        time.sleep(0.6)
    assert (list(found.versions), found.settling) == (["archived"], True)
    found = listing(source)
    assert (list(found.versions), found.settling) == (["archived", "next year", "soon"], True)
    time.sleep(0.5)
    found = listing(source)
    assert (list(found.versions), found.settling) == (["archived", "film", "next year", "soon"], False)


def test_a_changed_file_has_a_new_version(tmp_path: Path) -> None:
    source = FilesSource(tmp_path)
    write(tmp_path / "a", "1", age=100)
    before = listing(source)
    write(tmp_path / "a", "2", age=50)
    assert listing(source).versions.keys() == before.versions.keys()
    assert listing(source).versions != before.versions


def test_links_and_what_is_no_file(tmp_path: Path) -> None:
    write(tmp_path / "in" / "real")
    (tmp_path / "in" / "link").symlink_to("real")
    (tmp_path / "in" / "dangling").symlink_to("nothing")
    (tmp_path / "in" / "folder").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "in" / "pipe")
    assert list(listing(FilesSource(tmp_path / "in", "**")).versions) == ["link", "real"]


HOSTILE = [
    "new\nline",
    "tab\t",
    " space ",
    "quote'\"`$(x);&|",
    "{{ jinja }}",
    "-rf",
    "☃️ 😀 é",
    "%2e%2e",
    "a" * 255,
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_as_they_are(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, "x")
    source = FilesSource(tmp_path)
    assert list(listing(source).versions) == [name]
    assert data(source, name)["path"] == str(tmp_path / name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../secret",
        "in/../../secret",
        "/etc/passwd",
        "a/",
        "./a",
        "a\0b",
        "x" * 300,
        "\ud800",
        "a/b",
    ],
)
def test_what_is_not_listed_is_not_there(tmp_path: Path, name: str) -> None:
    write(tmp_path / "secret")
    write(tmp_path / "in" / "a")
    with pytest.raises(NoSuchItem):
        data(FilesSource(tmp_path / "in", "**"), name)


def test_a_name_that_is_no_text_is_said(tmp_path: Path) -> None:
    write(tmp_path / os.fsdecode(b"caf\xe9.txt"))
    write(tmp_path / os.fsdecode(b"caf\xe9.bin"))
    write(tmp_path / "a.txt")
    found = asyncio.run(FilesSource(tmp_path, "*.txt").list())
    assert list(found.versions) == ["a.txt"]
    assert found.notice == r"the name of a file is not UTF-8: b'caf\xe9.txt'"
    assert found.left_out == 1
    for name in (b"d\xe9j\xe0 vu.txt", b"\xff.txt"):
        write(tmp_path / os.fsdecode(name))
    found = asyncio.run(FilesSource(tmp_path, "*.txt").list())
    assert found.notice == r"the name of a file is not UTF-8: b'\xff.txt'; 2 more files are left out"
    assert found.left_out == 3


def test_a_link_to_itself_is_said(tmp_path: Path) -> None:
    write(tmp_path / "a.txt")
    (tmp_path / "loop.txt").symlink_to("loop.txt")
    found = asyncio.run(FilesSource(tmp_path, "*.txt").list())
    assert list(found.versions) == ["a.txt"]
    assert found.notice == "loop.txt is a link to itself"


def test_a_folder_that_is_missing_is_no_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"can't be listed: No such file or directory"):
        listing(FilesSource(tmp_path / "media"))
    (tmp_path / "media").write_text("")
    with pytest.raises(SourceError, match=r"can't be listed: Not a directory"):
        listing(FilesSource(tmp_path / "media"))


@pytest.fixture
def share(tmp_path: Path) -> Path:
    """A file system of its own, mounted at a folder."""
    folder = tmp_path / "share"
    folder.mkdir()
    if os.geteuid() != 0:
        unavailable("mounting a file system needs root")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "wqc-test", str(folder)], capture_output=True, text=True
    )
    if mounted.returncode:
        unavailable(f"no file system can be mounted here: {mounted.stderr.strip()}")
    return folder


def unmount(folder: Path) -> None:
    subprocess.run(["umount", "--lazy", str(folder)], check=False, capture_output=True)


def test_a_share_that_is_unmounted_is_no_empty_folder(share: Path) -> None:
    try:
        source = FilesSource(share)
        assert listing(source) == Listing({})
        write(share / "a")
        assert list(listing(source).versions) == ["a"]
    finally:
        unmount(share)
    for _ in range(2):
        with pytest.raises(SourceError, match="on another file system than before: is its share mounted"):
            listing(source)
    write(share / "b")
    assert list(listing(source).versions) == ["b"]


def test_a_folder_that_is_emptied_is_empty(tmp_path: Path) -> None:
    source = FilesSource(tmp_path)
    path = write(tmp_path / "a")
    listing(source)
    path.unlink()
    assert listing(source) == Listing({})


class Hanging(FilesSource):
    """A share whose server doesn't answer for a while."""

    seconds = 0.0

    def _list(self) -> Listing:
        time.sleep(self.seconds)
        return super()._list()

    def _get(self, name: str) -> str:
        time.sleep(self.seconds)
        return super()._get(name)


def test_a_share_that_hangs_is_said_and_comes_in_the_end(tmp_path: Path) -> None:
    write(tmp_path / "a")
    slow = Hanging(tmp_path)
    slow.seconds = 1.0
    source = patient(slow, 0.3)

    async def ask() -> tuple[list[str], Listing]:
        problems: list[str] = []
        started = time.monotonic()
        while True:
            try:
                listing = await source.list()
            except SourceError as error:
                problems.append(str(error))
            else:
                # one call alone, joined by all who asked: otherwise it would never come
                assert 0.9 < time.monotonic() - started < 2.0
                return problems, listing

    problems, found = asyncio.run(ask())
    assert problems
    assert all(problem.startswith("the listing isn't complete yet, after ") for problem in problems)
    assert list(found.versions) == ["a"]


def test_where_listings_are_long_the_last_one_stands_meanwhile(tmp_path: Path) -> None:
    write(tmp_path / "a")
    slow = Hanging(tmp_path)
    slow.seconds = 0.5
    source = patient(slow, 0.2)

    async def ask() -> None:
        while True:
            try:
                first = await source.list()
                break
            except SourceError:
                continue
        write(tmp_path / "b")
        until = time.monotonic() + 10
        while (again := await source.list()) == first:
            assert time.monotonic() < until
        assert list(again.versions) == ["a", "b"]
        # but a share that hangs is said to hang
        slow.seconds = 6.0
        answers = [await asyncio.gather(source.list(), return_exceptions=True) for _ in range(20)]
        assert answers[0] == [again]
        assert str(answers[-1][0]).startswith("the listing isn't complete yet, after ")

    asyncio.run(ask())


def test_a_share_that_hangs_holds_few_threads(tmp_path: Path) -> None:
    stuck = Hanging(tmp_path)
    stuck.seconds = 3.0
    source = patient(stuck, 0.1)

    async def ask() -> int:
        import threading

        before = threading.active_count()
        for _ in range(5):
            answers = await asyncio.gather(*(source.get("a") for _ in range(20)), return_exceptions=True)
            assert all(str(answer) == "no answer after 0.1 s" for answer in answers)
        return threading.active_count() - before

    assert asyncio.run(ask()) <= 16


def test_many_files_quickly(many_files: Path) -> None:
    source = FilesSource(many_files, "**/*.mp4", quiet=0)
    started = time.process_time()
    found = listing(source)
    took = time.process_time() - started
    assert len(found.versions) == 100_000
    assert list(found.versions)[:2] == [f"00/holiday-in-the-mountains-0000{n}.mp4" for n in range(2)]
    assert took < 5, f"{took:.1f} s of CPU"
