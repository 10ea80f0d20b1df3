"""The commits of a repository's branches, oldest first; an item's name is the commit's id.

Only commits are fetched, neither folders nor files, where the server can leave those out; into a folder that
is thrown away in the end.
"""

import re
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from wqc.runtime.sources.git_command import Git, Login, shown
from wqc.runtime.sources.glob import Glob
from wqc.runtime.sources.source import Listing, NoSuchItem, SourceError
from wqc.runtime.text import encode

HEADS = "refs/heads/"
FETCHING = 600.0
"""Seconds that git may take, the first fetch of a large repository included."""

_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Repository:
    """`branch`: a branch, or a glob pattern for several. `depth`: how many commits of each are listed."""

    url: str
    branch: str = "main"
    depth: int = 1000
    login: Login | None = None


class GitSource:
    def __init__(self, repository: Repository) -> None:
        self._what = repository
        self._glob = Glob.of(repository.branch)
        self._several = any(character in repository.branch for character in "*?[")
        self._folder = tempfile.TemporaryDirectory(prefix="wqc-git-", ignore_cleanup_errors=True)
        self._git = Git(repository.url, Path(self._folder.name), repository.login, FETCHING)
        self._ready = False
        self._heads: dict[str, str] = {}
        """The commit that each branch pointed at when the listing was made."""
        self._listing = Listing({})
        self._branches: dict[str, str] = {}
        """By commit: the branch that it is listed for."""

    async def list(self) -> Listing:
        await self._prepare()
        heads = await self._remote_heads()
        if heads != self._heads:
            await self._fetch(heads)
            branches: dict[str, str] = {}
            for branch in heads:
                for commit in await self._commits(branch):
                    branches.setdefault(commit, branch)
            self._branches = branches
            self._listing = Listing(dict.fromkeys(branches, ""))
            self._heads = heads
        return self._listing

    async def get(self, name: str) -> str:
        branch = self._branches.get(name)
        if branch is None or not _COMMIT.fullmatch(name):
            raise NoSuchItem(f"{shown(self._what.url)} has no commit {name} in its listing")
        form = "--format=%an <%ae>%x00%s%x00%ct"
        out = await self._git.run("log", "--no-walk", "--encoding=UTF-8", form, name, "--")
        author, subject, seconds = out.decode(errors="replace").removesuffix("\n").split("\0")
        return encode(
            {
                "url": shown(self._what.url),
                "branch": branch,
                "commit": name,
                "author": author,
                "subject": subject,
                "time": _time(int(seconds)),
            }
        )

    async def close(self) -> None:
        self._folder.cleanup()

    async def _remote_heads(self) -> dict[str, str]:
        """The branches that match and the commits that they point at. Raises SourceError."""
        out = await self._git.run("ls-remote", "--heads", "--", self._what.url)
        lines = (line.partition("\t") for line in out.decode(errors="surrogateescape").splitlines())
        found = {ref.removeprefix(HEADS): commit for commit, _, ref in lines}
        if not found:
            # what isn't a repository may look like an empty one
            raise SourceError(f"{shown(self._what.url)} has no branches")
        heads = {branch: commit for branch, commit in found.items() if self._glob.matches(branch)}
        if not heads and not self._several:
            others = ", ".join(list(found)[:5])
            raise SourceError(f"{shown(self._what.url)} has no branch {self._what.branch}, but {others}")
        return heads

    async def _prepare(self) -> None:
        if not self._ready:
            await self._git.run("init", "--quiet", "--bare")
            await self._git.run("config", "remote.origin.url", self._what.url)
            await self._git.run("config", "remote.origin.promisor", "true")
            await self._git.run("config", "remote.origin.partialCloneFilter", "tree:0")
            self._ready = True

    async def _fetch(self, heads: dict[str, str]) -> None:
        """Raises SourceError. A branch that was rewritten is taken as it is now."""
        if heads:
            wanted = [f"+{HEADS}{branch}:{HEADS}{branch}" for branch in heads]
            depth = f"--depth={self._what.depth}"
            await self._git.run("fetch", "--quiet", "--no-tags", depth, "--filter=tree:0", "origin", *wanted)

    async def _commits(self, branch: str) -> tuple[str, ...]:
        count = f"--max-count={self._what.depth}"
        out = await self._git.run("rev-list", "--date-order", "--reverse", count, HEADS + branch, "--")
        return tuple(out.decode().split())


def _time(seconds: int) -> str:
    """A commit may say anything; what no calendar has is the last second of those that it has."""
    try:
        time = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        time = datetime.max
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")
