"""From a built workflow to one that runs with processes on this machine."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from wqc.cli.ending import Trouble
from wqc.contract.names import object_name
from wqc.contract.pod import PROGRAM
from wqc.contract.settings import Setting, SourceSettings
from wqc.language.values import Pvc
from wqc.model.nodes import Batch, Carrier, Queue, Source
from wqc.model.workflow import Workflow as Model
from wqc.runtime.graph import Port
from wqc.runtime.periods import Periods
from wqc.runtime.settings import read_source_settings
from wqc.runtime.sources import source as running
from wqc.runtime.sources.opening import open_source
from wqc.runtime.stores.local.jobfolder import JobFolder
from wqc.runtime.stores.local.script import NotRunnable, script
from wqc.runtime.stores.store import QueueFiles
from wqc.runtime.workflow import Workflow

LOCAL_KINDS = ("files", "items", "http")


@dataclass(frozen=True, slots=True)
class Local:
    workflow: Workflow
    files: Mapping[str, QueueFiles]
    commands: Mapping[str, Mapping[str, str]]
    """By queue and container, the program to run instead of the container's own."""
    sources: Mapping[Port, running.Source]


def locally(
    model: Model,
    built: Mapping[str, str],
    volumes: Mapping[str, Path],
    programs: Mapping[str, str],
    periods: Periods,
) -> Local:
    """`volumes`: folders by claim; `programs`: by worker. Raises Trouble."""
    _refuse_strangers(model, volumes, programs)
    maps = _config_maps(built)
    files = {
        name: QueueFiles(
            data["settings.yaml"], data["job.yaml"], {"kind": "ConfigMap", "name": name, "uid": ""}
        )
        for name, node in model.nodes.items()
        if isinstance(node, Queue) and (data := maps[object_name(model.name, name)])
    }
    commands = {
        name: _commands(node, yaml.safe_load(files[name].job), programs)
        for name, node in model.nodes.items()
        if isinstance(node, Queue)
    }
    workflow = _program(maps[object_name(model.name, "manager")]["manager.py"])
    sources = {
        port: _source(model, maps, node.name, port.output, volumes, periods)
        for node in workflow.sources.values()
        for port in node.ports()
    }
    return Local(workflow, files, commands, sources)


def _refuse_strangers(model: Model, volumes: Mapping[str, Path], programs: Mapping[str, str]) -> None:
    for node in model.nodes.values():
        if isinstance(node, Carrier | Batch):
            raise Trouble(f"{node.name} needs a cluster: a {type(node).__name__.lower()} does not run here")
    claims = {
        options["volume"].name
        for node in model.nodes.values()
        if isinstance(node, Source) and node.kind == "files"
        for options in (node.options, *node.members.values())
        if options
    }
    for name in sorted(claims - volumes.keys()):
        raise Trouble(f"where is the volume {name}? Name a folder: --volume {name}=FOLDER")
    workers = {
        step.name for node in model.nodes.values() if isinstance(node, Queue) for step in node.worker.steps
    }
    for name in volumes.keys() - claims:
        raise Trouble(f"no source reads a volume {name}, but {', '.join(sorted(claims)) or 'none at all'}")
    for name in programs.keys() - workers:
        raise Trouble(f"no queue has a worker {name}, but {', '.join(sorted(workers))}")
    for name, folder in volumes.items():
        if not folder.is_dir():
            raise Trouble(f"the volume {name} is to be {folder}, which is no folder")


def _config_maps(built: Mapping[str, str]) -> dict[str, dict[str, str]]:
    documents = [
        document
        for name, text in built.items()
        if name.endswith(".yaml")
        for document in yaml.safe_load_all(text)
    ]
    return {
        each["metadata"]["name"]: each["data"] for each in documents if each and each["kind"] == "ConfigMap"
    }


def _commands(queue: Queue, template: dict[str, Any], programs: Mapping[str, str]) -> dict[str, str]:
    """What runs instead of the queue's containers. Raises Trouble for one that can't run here."""
    pod = template["spec"]["template"]["spec"]
    containers = [
        each
        for each in [*pod.get("initContainers", ()), *pod["containers"]]
        if each.get("command", [])[:1] != [PROGRAM]
    ]
    commands: dict[str, str] = {}
    for container, step in zip(containers, queue.worker.steps, strict=True):
        if step.name in programs:
            commands[container["name"]] = programs[step.name]
        elif not step.run:
            raise Trouble(
                f"worker {step.name} has no script to run here, only an image: "
                f"--command {step.name}=PROGRAM stands in for it"
            )
    try:
        script(pod, JobFolder(Path("/")), commands)
    except NotRunnable as error:
        raise Trouble(f"queue {queue.name} can't run here: {error}") from None
    return commands


def _program(text: str) -> Workflow:
    """The very manager that runs on a cluster, not started."""
    names: dict[str, Any] = {"__name__": "manager"}
    exec(compile(text, "manager.py", "exec"), names)
    workflow = names["workflow"]
    assert isinstance(workflow, Workflow)
    return workflow


def _source(
    model: Model,
    maps: Mapping[str, dict[str, str]],
    name: str,
    member: str,
    volumes: Mapping[str, Path],
    periods: Periods,
) -> running.Source:
    node = model.nodes[name]
    assert isinstance(node, Source)
    if node.kind not in LOCAL_KINDS:
        raise Trouble(f"source {name} is of kind {node.kind}; here only {', '.join(LOCAL_KINDS)} can be read")
    settings = read_source_settings(maps[object_name(model.name, name)]["source.yaml"])
    if node.kind == "files":
        options = node.members[member] if member else node.options
        settings = _at(settings, member, str(_folder(options["volume"], volumes)))
    try:
        return open_source(settings, member, periods)
    except running.SourceError as error:
        raise Trouble(str(error)) from None


def _folder(claim: Pvc, volumes: Mapping[str, Path]) -> Path:
    return volumes[claim.name].absolute() / claim.sub_path


def _at(settings: SourceSettings, member: str, path: str) -> SourceSettings:
    """The settings with the directory that stands here for the volume."""
    moved: dict[str, Setting] = {"path": path}
    if member:
        return replace(settings, members={**settings.members, member: {**settings.members[member], **moved}})
    return replace(settings, options={**settings.options, **moved})
