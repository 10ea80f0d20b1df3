"""examples/build_farm on a real node: the commits of twenty repositories become one queue."""

import re
import subprocess
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

from cluster.image import Image
from cluster.interpreter import ENVIRONMENT, interpreter_layer
from cluster.outside import HERE, name_server
from cluster.real_node import RealNode
from cluster.system import System, item_of
from cluster.workers import shell_layer
from support.gitserver import git_server

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "build_farm.wq"
COMMITS = 1
BUSY = 12
"""Commits of each repository, and of the busy one."""
GOOD = "build:\n\techo built >built\ntest: built\n\tcat built\n"
BAD = "build:\n\ttrue\ntest:\n\tfalse\n"


def repository(folder: Path, commits: int, makefile: str) -> list[str]:
    """A repository to fetch from; its commits, oldest first."""

    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com")
        command = ["git", "-C", str(folder), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    folder.mkdir(parents=True)
    git("init", "--quiet", "--initial-branch=main")
    git("config", "uploadpack.allowAnySHA1InWant", "true")
    git("config", "uploadpack.allowFilter", "true")
    for number in range(commits):
        (folder / "Makefile").write_text(f"{makefile}# {folder.name} {number}\n")
        git("add", "Makefile")
        git("commit", "--quiet", "--message", f"change {number}")
    return git("log", "--reverse", "--format=%H").split()


def test_twenty_repositories_share_one_queue(runtime_node: RealNode, tmp_path: Path) -> None:
    checkout = Image(["docker.io/alpine/git:2.47.2"], [interpreter_layer()], ["sh"], environment=ENVIRONMENT)
    runtime_node.load_image(checkout)
    tools = shell_layer(tmp_path / "make", "make")
    runtime_node.load_image(Image(["docker.io/library/golang:1.24-bookworm"], [tools], ["sh"]))
    names = re.findall(r"\$\{git\}/(\w+)\.git", EXAMPLE.read_text())
    assert len(names) == 20
    commits = {
        name: repository(
            tmp_path / "git" / f"{name}.git",
            BUSY if name == "api" else COMMITS,
            BAD if name == "web" else GOOD,
        )
        for name in names
    }
    failing = commits["web"]
    with (
        git_server(tmp_path / "git", address=HERE) as server,
        System(runtime_node, "build_farm", tmp_path, {}) as system,
    ):
        name_server(system, "git", 8080, urlsplit(server.url).port or 0)
        parameters = ("--param", "git=http://git:8080", "--param", "test_cpu=100m..2")
        system.apply(EXAMPLE, "listing=2 flush=1 backoff=1", *parameters)
        good = sum(map(len, commits.values())) - len(failing)
        system.wait_finished("builds", good)

        jobs = system.jobs("builds")
        listed = {f"{name}:{commit}" for name in names for commit in commits[name]}
        assert system.attempts("builds") == Counter(dict.fromkeys(listed, 1))
        results = {item_of(job)["name"]: job for job in jobs}
        poisoned = results[f"web:{failing[0]}"]
        assert poisoned["status"]["failed"] == 1
        assert "wqc/done" not in poisoned["metadata"]["labels"]
        # the busy repository's first commit isn't followed by all of its others
        began = sorted(jobs, key=lambda job: job["metadata"]["creationTimestamp"])
        order = [item_of(job)["name"].partition(":")[0] for job in began]
        busy = [at for at, name in enumerate(order) if name == "api"]
        others = [at for at, name in enumerate(order) if name != "api"]
        assert others[-1] < busy[-1], order
        assert busy[BUSY // 2] > others[len(others) // 3], order
