"""The commits of a repository: over local paths, and over HTTP with a password."""

import asyncio
import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.badserver import always, http, server
from support.gitserver import git_server
from support.ports import free_port
from wqc.runtime.sources.git import GitSource, Repository
from wqc.runtime.sources.git_command import Git, Login
from wqc.runtime.sources.source import Listing, NoSuchItem, SourceError


class Repo:
    """A bare repository and commits in it, made without a work tree."""

    def __init__(self, path: Path, **config: str) -> None:
        self.path = path
        self.clock = 1_700_000_000
        path.mkdir(parents=True)
        self.git("init", "--quiet", "--bare", "--initial-branch=main")
        for key, value in config.items():
            self.git("config", key.replace("_", "."), value)

    def git(self, *arguments: str, **more: Any) -> str:
        environment = os.environ | {
            "GIT_DIR": str(self.path),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": "Ann é",
            "GIT_AUTHOR_EMAIL": "ann@example.com",
            "GIT_COMMITTER_NAME": "Bob",
            "GIT_COMMITTER_EMAIL": "bob@example.com",
            "GIT_AUTHOR_DATE": f"@{self.clock} +0200",
            "GIT_COMMITTER_DATE": f"@{self.clock} +0200",
        }
        made = subprocess.run(["git", *arguments], env=environment, capture_output=True, check=True, **more)
        return made.stdout.decode().strip()

    def commit(
        self, message: str, branch: str = "main", content: bytes = b"", parents: tuple[str, ...] = ()
    ) -> str:
        """Each a minute after the one before."""
        self.clock += 60
        blob = self.git("hash-object", "-w", "--stdin", input=content or message.encode())
        tree = self.git("mktree", input=f"100644 blob {blob}\tfile\n".encode())
        known = parents or tuple(filter(None, [self.head(branch)]))
        given = [word for parent in known for word in ("-p", parent)]
        commit = self.git("commit-tree", tree, *given, "-F", "-", input=message.encode())
        self.git("update-ref", f"refs/heads/{branch}", commit)
        return commit

    def head(self, branch: str) -> str:
        return self.git("for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo.git")


@contextmanager
def opened(url: str | Path, **more: Any) -> Iterator["Opened"]:
    source = Opened(GitSource(Repository(str(url), **more)))
    try:
        yield source
    finally:
        source.run(source.source.close())


class Opened:
    def __init__(self, source: GitSource) -> None:
        self.source = source
        self.runner = asyncio.Runner()
        self.run = self.runner.run

    def names(self) -> list[str]:
        return list(self.run(self.source.list()).versions)

    def data(self, name: str) -> Any:
        return json.loads(self.run(self.source.get(name)))

    def problem(self) -> str:
        with pytest.raises(SourceError) as caught:
            self.names()
        return str(caught.value)


def test_the_commits_of_a_branch_oldest_first(repo: Repo) -> None:
    commits = [repo.commit(f"change {number}") for number in range(5)]
    repo.commit("elsewhere", branch="other")
    with opened(repo.path) as source:
        assert source.names() == commits
        assert source.run(source.source.list()) == Listing(dict.fromkeys(commits, ""))


def test_what_an_item_says_of_its_commit(repo: Repo) -> None:
    commit = repo.commit("Ünïcode subject ☃\n\nand a body")
    with opened(repo.path) as source:
        source.names()
        assert source.data(commit) == {
            "url": str(repo.path),
            "branch": "main",
            "commit": commit,
            "author": "Ann é <ann@example.com>",
            "subject": "Ünïcode subject ☃",
            "time": "2023-11-14T22:14:20Z",
        }


@pytest.mark.parametrize(
    "subject", ["$(touch x); `id` \"'", "--format=%H", "{{ 7 * 7 }}", "a" * 100_000, "\x01\x1b[31m"]
)
def test_subjects_are_as_they_are(repo: Repo, subject: str) -> None:
    commit = repo.commit(subject)
    with opened(repo.path) as source:
        source.names()
        assert source.data(commit)["subject"] == subject


def test_new_commits_are_added_and_old_ones_stay(repo: Repo) -> None:
    first = repo.commit("first")
    with opened(repo.path) as source:
        assert source.names() == [first]
        second = repo.commit("second")
        assert source.names() == [first, second]
        assert source.data(first)["subject"] == "first"


def test_a_merge_and_its_sides(repo: Repo) -> None:
    base = repo.commit("base")
    left = repo.commit("left")
    right = repo.commit("right", branch="side", parents=(base,))
    merge = repo.commit("merge", parents=(left, right))
    with opened(repo.path) as source:
        assert source.names() == [base, left, right, merge]


def test_a_rewritten_branch_is_taken_as_it_is_now(repo: Repo) -> None:
    base, old = repo.commit("base"), repo.commit("old")
    with opened(repo.path) as source:
        assert source.names() == [base, old]
        new = repo.commit("new", parents=(base,))
        assert source.names() == [base, new]
        with pytest.raises(NoSuchItem):
            source.data(old)


def test_only_so_many_commits_back(repo: Repo) -> None:
    commits = [repo.commit(str(number)) for number in range(6)]
    with opened(repo.path.as_uri(), depth=3) as source:
        assert source.names() == commits[3:]
        commits.append(repo.commit("6"))
        assert source.names() == commits[4:]


def test_a_pattern_of_branches_lists_each_commit_once(repo: Repo) -> None:
    base = repo.commit("base")
    repo.git("update-ref", "refs/heads/release/1", base)
    repo.git("update-ref", "refs/heads/release/2", base)
    one = repo.commit("one", branch="release/1")
    two = repo.commit("two", branch="release/2")
    repo.commit("main only")
    with opened(repo.path, branch="release/*") as source:
        assert source.names() == [base, one, two]
        assert [source.data(name)["branch"] for name in (base, one, two)] == [
            "release/1",
            "release/1",
            "release/2",
        ]
        repo.git("update-ref", "-d", "refs/heads/release/1")
        assert source.names() == [base, two]
    with opened(repo.path, branch="feature/*") as source:
        assert source.names() == []


def test_names_that_are_no_listed_commit(repo: Repo) -> None:
    repo.commit("a")
    hidden = repo.commit("b", branch="other")
    with opened(repo.path) as source:
        source.names()
        for name in ("main", "HEAD", hidden, "--help", "", "a" * 40, "x\ny"):
            with pytest.raises(NoSuchItem):
                source.data(name)


def test_what_is_no_repository(tmp_path: Path, repo: Repo) -> None:
    with opened(tmp_path / "nothing") as source:
        assert "does not appear to be a git repository" in source.problem()
    with opened(repo.path) as source:
        assert source.problem() == f"{repo.path} has no branches"
    repo.commit("x", branch="trunk")
    with opened(repo.path) as source:
        assert source.problem() == f"{repo.path} has no branch main, but trunk"
    with opened(f"http://127.0.0.1:{free_port()}/a.git") as source:
        assert "Failed to connect" in source.problem()
    with server(always(http(200, "<html>", "text/html"))) as url, opened(f"{url}/a.git") as source:
        assert source.problem() == f"{url}/a.git has no branches"
    with server(always(http(500, "no"))) as url, opened(f"{url}/a.git") as source:
        assert "500" in source.problem()


def test_a_repository_that_comes_back(repo: Repo) -> None:
    commit = repo.commit("a")
    away = repo.path.with_name("away")
    with opened(repo.path) as source:
        assert source.names() == [commit]
        repo.path.rename(away)
        source.problem()
        away.rename(repo.path)
        assert source.names() == [commit]


def test_the_program_is_missing(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(repo.path) as source:
        monkeypatch.setenv("PATH", "/nowhere")
        assert source.problem() == "there is no git program"


def test_a_server_that_hangs(tmp_path: Path) -> None:
    def hang(request: str, connection: Any) -> None:
        time.sleep(30)

    with server(hang) as url:
        git = Git(f"{url}/a.git", tmp_path, None, timeout=0.5)
        started = time.monotonic()
        with pytest.raises(SourceError, match=r"no answer within 0\.5 s$"):
            asyncio.run(git.run("ls-remote", "--", git.url))
        assert time.monotonic() - started < 5


PASSWORD = "s3cret/with+odd=characters$(id)"


def test_over_http_with_a_password(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "root" / "shop.git")
    commits = [repo.commit("one"), repo.commit("two")]
    with git_server(tmp_path / "root", "reader", PASSWORD) as served:
        url = f"{served.url}/shop.git"
        with opened(url, login=Login("reader", lambda: PASSWORD)) as source:
            assert source.names() == commits
            assert source.data(commits[1])["subject"] == "two"
            commits.append(repo.commit("three"))
            assert source.names() == commits
        with opened(url) as source:
            assert source.problem() == f"{url}: it asks for credentials, and there is no `auth`"
        with opened(url, login=Login("reader", lambda: "wrong")) as source:
            assert "Authentication failed" in source.problem()


def test_a_password_stands_in_no_argument_no_message_and_no_file(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "root" / "shop.git")
    repo.commit("one")
    seen: set[bytes] = set()
    watching = threading.Event()

    def watch() -> None:
        while not watching.is_set():
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    seen.add((process / "cmdline").read_bytes())
                except OSError:
                    continue

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        with git_server(tmp_path / "root", "other", "other") as served:
            turned_away = f"{served.url}/shop.git"
            with opened(turned_away, login=Login("reader", lambda: PASSWORD)) as source:
                assert PASSWORD not in source.problem()
        with git_server(tmp_path / "root", "reader", PASSWORD) as served:
            url = f"{served.url}/shop.git"
            with opened(url, login=Login("reader", lambda: PASSWORD)) as source:
                assert len(source.names()) == 1
                folder = Path(source.source._folder.name)
                kept = [
                    path
                    for path in folder.rglob("*")
                    if path.is_file() and PASSWORD.encode() in path.read_bytes()
                ]
                assert not kept
    finally:
        watching.set()
        watcher.join()
    assert any(b"ls-remote" in command for command in seen)
    assert not [command for command in seen if b"s3cret" in command]


def test_a_password_goes_to_its_own_host_alone(tmp_path: Path) -> None:
    with git_server(tmp_path, "thief", "x") as thief:
        redirect = http(
            302, "", "text/plain", f"Location: {thief.url}/shop.git/info/refs?service=git-upload-pack"
        )
        with server(always(redirect)) as url:
            own = f"{url}/shop.git"
            with opened(own, login=Login("reader", lambda: PASSWORD)) as source:
                source.problem()
        assert set(thief.refused) <= {""}
        assert thief.refused


def test_a_password_in_the_address_is_not_repeated(tmp_path: Path) -> None:
    port = free_port()
    with opened(f"http://someone:{PASSWORD.replace('/', '')}@127.0.0.1:{port}/a.git") as source:
        said = source.problem()
        assert "s3cret" not in said
        assert f"127.0.0.1:{port}" in said


def test_neither_folders_nor_files_are_fetched_where_the_server_can_leave_them_out(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo.git", uploadpack_allowFilter="true")
    commits = [repo.commit(str(number), content=os.urandom(1 << 20)) for number in range(4)]
    with opened(repo.path.as_uri()) as source:
        assert source.names() == commits
        assert source.data(commits[2])["subject"] == "2"
        folder = Path(source.source._folder.name)
        assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 1 << 18
    assert not folder.exists()


def test_a_server_that_can_not_leave_them_out(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo.git", uploadpack_allowFilter="false")
    commit = repo.commit("whole", content=os.urandom(1 << 16))
    with opened(repo.path.as_uri()) as source:
        assert source.names() == [commit]


def test_many_commits(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo.git")
    stream = [
        f"commit refs/heads/main\ncommitter B <b@x> {1_700_000_000 + number} +0000\n"
        f"data {len(str(number))}\n{number}\nM 100644 inline file\ndata 1\nx\n"
        for number in range(20_000)
    ]
    repo.git("fast-import", "--quiet", input="".join(stream).encode())
    with opened(repo.path.as_uri(), depth=10_000) as source:
        names = source.names()
        assert len(names) == 10_000
        assert source.data(names[0])["subject"] == "10000"
        assert source.data(names[-1])["subject"] == "19999"


def test_a_commit_of_a_year_that_no_calendar_has(repo: Repo) -> None:
    repo.clock = 999_999_999_999
    commit = repo.commit("from afar")

    async def scenario() -> None:
        source = GitSource(Repository(str(repo.path)))
        assert [*(await source.list()).versions] == [commit]
        assert json.loads(await source.get(commit))["time"] == "9999-12-31T23:59:59Z"
        await source.close()

    asyncio.run(scenario())
