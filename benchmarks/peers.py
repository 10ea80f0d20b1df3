"""Other tools that are given as many objects to write: how each is set up, and the command that prints them.

Every object is the ConfigMap that wqc writes for one queue of the same workflow, under a name of its own.

usage: peers.py FOLDER COUNT    prints {"commands": {tool: command}, "missing": {tool: why}}

A program of its own, because a process's peak memory counts from that of the process that started it, and so
the one that measures must be small.
"""

import json
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from measure import Command
from workflows import workflow

from wqc.diagnostics.source import Source
from wqc.pipeline import Options, build

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from support.gobuild import GoProgram, built, cache_folder  # noqa: E402

HERA = "hera[yaml]==7.1.0"
HELM = GoProgram("helm", HERE / "helm", "helm.sh/helm/v4/cmd/helm")


class Missing(Exception):
    """A peer that this machine lacks; its text says what to do."""


@dataclass(frozen=True)
class Peer:
    """`prepare(folder, manifest, count)` writes what the tool reads; what it returns prints so many.

    It raises `Missing`.
    """

    name: str
    prepare: Callable[[Path, dict[str, object], int], Command]


def helm(folder: Path, manifest: dict[str, object], count: int) -> Command:
    """A chart whose one template ranges over the numbers."""
    program = _helm()
    chart = folder / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: large\nversion: 1.0.0\n")
    (chart / "values.yaml").write_text(f"count: {count}\n")
    text = (
        yaml.safe_dump(manifest, sort_keys=False).replace("{{", '{{ "{{" }}').replace("NAME", "queue-{{ . }}")
    )
    (chart / "templates" / "all.yaml").write_text(
        "{{- range until (int .Values.count) }}\n---\n" + text + "{{- end }}\n"
    )
    return [program, "template", "large", str(chart)]


def kustomize(folder: Path, manifest: dict[str, object], count: int) -> Command:
    """A folder with a file for each object and a list of them."""
    program = shutil.which("kubectl", path=f"{Path(sys.executable).parent}") or shutil.which("kubectl")
    if program is None:
        raise Missing("there is no kubectl")
    base = folder / "base"
    base.mkdir()
    text = yaml.safe_dump(manifest, sort_keys=False)
    names = [f"queue-{n}" for n in range(count)]
    for name in names:
        (base / f"{name}.yaml").write_text(text.replace("NAME", name))
    listed = "".join(f"  - {name}.yaml\n" for name in names)
    (base / "kustomization.yaml").write_text(f"resources:\n{listed}")
    return [program, "kustomize", str(base)]


def hera(folder: Path, manifest: dict[str, object], count: int) -> Command:
    """A WorkflowTemplate with the same worker for each, from objects of its own classes."""
    given = folder / "object.json"
    given.write_text(json.dumps(manifest))
    return [_hera_python(), HERE / "print_with_hera.py", given, str(count)]


def pyyaml(folder: Path, manifest: dict[str, object], count: int) -> Command:
    """PyYAML's C dumper alone."""
    given = folder / "object.json"
    given.write_text(json.dumps(manifest))
    return [sys.executable, HERE / "print_with_pyyaml.py", given, str(count)]


PEERS = (
    Peer("helm template", helm),
    Peer("kubectl kustomize", kustomize),
    Peer("hera", hera),
    Peer("PyYAML's C dumper", pyyaml),
)


def main(folder: str, count: str) -> None:
    commands: dict[str, list[str]] = {}
    missing: dict[str, str] = {}
    manifest = _one_queue()
    for peer in PEERS:
        own = Path(folder, peer.name.replace(" ", "-"))
        own.mkdir()
        try:
            commands[peer.name] = [str(word) for word in peer.prepare(own, manifest, int(count))]
        except Missing as why:
            missing[peer.name] = str(why)
    print(json.dumps({"commands": commands, "missing": missing}))


def _one_queue() -> dict[str, object]:
    """The ConfigMap that wqc writes for a queue, with NAME where its name stands."""
    built = build(Source("large.wq", workflow(2)), Options())
    manifest: dict[str, object] = yaml.safe_load(built.files["queue-resized-1.yaml"])
    manifest["metadata"]["name"] = "NAME"  # type: ignore[index]
    return manifest


def _helm() -> Path:
    try:
        return built(HELM)
    except (pytest.skip.Exception, pytest.fail.Exception) as why:
        raise Missing(str(why)) from None


def _hera_python() -> Path:
    """Hera in an environment of its own, kept in the cache: its pins aren't ours."""
    folder = cache_folder() / "hera"
    python = folder / "bin" / "python"
    if _text(folder / "installed") != HERA:
        venv.create(folder, with_pip=True, clear=True)
        said = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", HERA], capture_output=True, text=True
        )
        if said.returncode:
            raise Missing(f"{HERA} can't be installed: {said.stderr.strip().splitlines()[-1:]}")
        (folder / "installed").write_text(HERA)
    return python


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


if __name__ == "__main__":
    main(*sys.argv[1:])
