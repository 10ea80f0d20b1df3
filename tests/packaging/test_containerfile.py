"""What Containerfile says, where no container engine is: pinned, unprivileged, of what the repository has."""

import fnmatch
import re
import tomllib
from pathlib import Path

import pytest

from support.built import Folder
from wqc.contract.pod import WRAPPER

REPOSITORY = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]


def instructions() -> list[tuple[str, str]]:
    """Word and rest of each, its lines joined and comments left out."""
    lines = (REPOSITORY / "Containerfile").read_text().splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", " ", text)
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined.splitlines() if line)]


def said(word: str) -> list[str]:
    return [rest for each, rest in instructions() if each == word]


def test_every_stage_is_on_the_one_base_pinned_by_tag_and_digest() -> None:
    (base,) = said("ARG")
    assert re.fullmatch(r"PYTHON=docker\.io/\S+:\d+\.\d+\.\d+-\S+@sha256:[0-9a-f]{64}", base)
    assert [rest.split()[0] for rest in said("FROM")] == ["${PYTHON}"] * 2


def test_the_base_has_a_python_that_wqc_runs_on() -> None:
    version = re.search(r"python:(\d+)\.(\d+)", said("ARG")[0]).groups()
    least = PROJECT["requires-python"].removeprefix(">=").split(".")
    assert [*map(int, version)] >= [*map(int, least)]


def test_it_runs_as_the_user_that_pods_are_given() -> None:
    text = 'workflow w\nsource s: items { items = ["a"] }\n'
    text += 'worker k { image = "example.com/k:1", command = ["k"] }\nqueue q { from = s, worker = k }\n'
    pod = Folder(text).manager()["securityContext"]
    assert said("USER") == [f"{pod['runAsUser']}:{pod['runAsGroup']}"]


def test_packages_are_those_of_the_locks_alone() -> None:
    installs = [command for run in said("RUN") for command in run.split("&&") if "pip install" in command]
    assert len(installs) == 4
    for command in installs:
        assert "--require-hashes" in command or ("--no-deps" in command and "wqc-*.whl" in command)


def test_the_last_stage_has_no_more_than_what_was_installed() -> None:
    last = instructions()[[word for word, _ in instructions()].index("FROM", 3) :]
    assert [rest for word, rest in last if word == "COPY"] == [
        "--from=build /opt/wqc /opt/wqc",
        f"--from=build /build/wqc-wrapper {WRAPPER}",
    ]


@pytest.mark.parametrize(
    "path", [path for rest in said("COPY") if "--from" not in rest for path in rest.split()[:-1]]
)
def test_what_it_copies_is_there_and_not_ignored(path: str) -> None:
    assert (REPOSITORY / path).exists()
    kept = [line[1:] for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line[0] == "!"]
    assert any(fnmatch.fnmatch(path, pattern) for pattern in kept)


def test_version_and_command_are_the_project_s() -> None:
    (labels,) = said("LABEL")
    assert f'org.opencontainers.image.version="{PROJECT["version"]}"' in labels
    (command,) = said("ENTRYPOINT")
    assert command == '["wqc-runtime"]'
    assert "wqc-runtime" in PROJECT["scripts"]
