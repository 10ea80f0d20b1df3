"""What a workflow needs of a cluster, and what the command line names to stand for it on this machine."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wqc.cli.ending import Trouble
from wqc.language.values import ConfigMap, Pvc, Secret
from wqc.model.nodes import Carrier, Queue, Source, Worker
from wqc.model.workflow import Workflow
from wqc.runtime.stores.local.standins import variable

Held = Secret | ConfigMap


@dataclass(frozen=True, slots=True)
class Given:
    """As the options have it."""

    volumes: Mapping[str, Path]
    """By claim."""
    programs: Mapping[str, Path]
    """By worker."""
    sources: Mapping[str, str]
    """By source, the URL of a Source API."""
    secrets: Mapping[str, Path]
    """By `NAME/KEY`, the file that holds it."""


def check(model: Workflow, given: Given) -> None:
    """Raises Trouble if something is missing, or stands for nothing."""
    sources = [node for node in model.nodes.values() if isinstance(node, Source)]
    _refuse_strangers(given.sources, [source.name for source in sources], "there is no source {}, but {}")
    workers = [step.name for queue in _queues(model) for step in queue.worker.steps]
    _refuse_strangers(given.programs, workers, "no queue has a worker {}, but {}")
    mounted = list(_mounted(model, given))
    _refuse_strangers(given.volumes, mounted, "nothing here mounts a volume {}, but {}")
    held = list(_held(model, given))
    names = [f"{each.name}/{each.key}" for each in held]
    _refuse_strangers(given.secrets, names, "nothing here takes a secret {}, but {}")
    for name, url in given.sources.items():
        if not url.startswith(("http://", "https://")):
            raise Trouble(f"the source {name} is to be {url}, which is no URL of a Source API")
    for source in sources:
        if source.kind == "container" and source.name not in given.sources:
            raise Trouble(
                f"source {source.name} is a container of your own: start it, and say where it serves: "
                f"--source {source.name}=URL"
            )
    for name in sorted(set(mounted) - given.volumes.keys()):
        raise Trouble(f"where is the volume {name}? Name a folder: --volume {name}=FOLDER")
    for name, folder in given.volumes.items():
        if not folder.is_dir():
            raise Trouble(f"the volume {name} is to be {folder}, which is no folder")
    for each, name in zip(held, names, strict=True):
        if name not in given.secrets and variable(each.name, each.key) not in os.environ:
            raise Trouble(
                f"what is {name}? Set {variable(each.name, each.key)}, or name the file that holds it: "
                f"--secret {name}=FILE"
            )
    for path in given.programs.values():
        _check_program(path)
    for name, path in given.secrets.items():
        if not path.is_file():
            raise Trouble(f"the secret {name} is to be in {path}, which is no file")


def _check_program(path: Path) -> None:
    if not path.is_file():
        raise Trouble(f"there is no program {path}")
    if not os.access(path, os.X_OK):
        raise Trouble(f"{path} isn't executable: chmod +x {path}")


def _refuse_strangers(given: Iterable[str], known: Sequence[str], complaint: str) -> None:
    for name in given:
        if name not in known:
            raise Trouble(complaint.format(name, ", ".join(sorted(set(known))) or "none at all"))


def _queues(model: Workflow) -> Iterator[Queue]:
    return (node for node in model.nodes.values() if isinstance(node, Queue))


def _workers(model: Workflow) -> Iterator[Worker]:
    for queue in _queues(model):
        yield queue.worker
        yield from queue.worker.pipeline


def _ends(model: Workflow, given: Given) -> Iterator[Mapping[str, object]]:
    """The options of the sources and carriers that are opened here."""
    for node in model.nodes.values():
        if isinstance(node, Carrier):
            yield node.options
        elif isinstance(node, Source) and node.name not in given.sources and node.kind != "container":
            yield from node.members.values() or (node.options,)


def _mounted(model: Workflow, given: Given) -> Iterator[str]:
    for options in _ends(model, given):
        if isinstance(volume := options.get("volume"), Pvc):
            yield volume.name
    for worker in _workers(model):
        yield from (mount.name for mount in worker.mounts.values())


def _held(model: Workflow, given: Given) -> Iterator[Held]:
    """The single values of Secrets and ConfigMaps that sources and workers take."""
    for options in _ends(model, given):
        yield from (value for value in options.values() if isinstance(value, Secret))
    for environment in (
        *(queue.env for queue in _queues(model)),
        *(worker.env for worker in _workers(model)),
    ):
        yield from (value for value in environment.values() if isinstance(value, Secret | ConfigMap))
