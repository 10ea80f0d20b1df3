"""From a built workflow to one that runs with processes on this machine."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from wqc.cli.ending import Trouble
from wqc.cli.settings_here import options_here, source_settings_here
from wqc.cli.standins import Given, check
from wqc.contract.names import object_name
from wqc.contract.pod import PROGRAM
from wqc.emit.objects.folder import remembered
from wqc.model.nodes import Carrier, Queue, Source
from wqc.model.workflow import Workflow as Model
from wqc.runtime.carriers import carrier as running_carrier
from wqc.runtime.carriers.opening import open_carrier
from wqc.runtime.graph.graph import Port
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.periods import Periods
from wqc.runtime.settings import read_carrier_settings
from wqc.runtime.sources import source as running
from wqc.runtime.sources.http import HttpSource
from wqc.runtime.sources.opening import open_source
from wqc.runtime.stores.local.jobfolder import JobFolder
from wqc.runtime.stores.local.script import NotRunnable, script
from wqc.runtime.stores.local.standins import StandIns
from wqc.runtime.stores.store import QueueFiles


@dataclass(frozen=True, slots=True)
class Local:
    workflow: Workflow
    files: Mapping[str, QueueFiles]
    stand_ins: StandIns
    sources: Mapping[Port, running.Source]
    carriers: Mapping[str, running_carrier.Carrier]
    remembered: Container[str]
    """The queues whose records are read, or given up by `retired`."""


def locally(model: Model, built: Mapping[str, str], given: Given, periods: Periods) -> Local:
    """Raises Trouble."""
    check(model, given)
    maps = _config_maps(built)
    queues = [node for node in model.nodes.values() if isinstance(node, Queue)]
    files = {queue.name: _files(maps[object_name(model.name, queue.name)]) for queue in queues}
    pods = {name: yaml.safe_load(each.job)["spec"]["template"]["spec"] for name, each in files.items()}
    programs = {queue.name: _programs(queue, pods[queue.name], given.programs) for queue in queues}
    stand_ins = StandIns(programs, given.volumes, given.secrets)
    for name, pod in pods.items():
        try:
            script(pod, JobFolder(Path("/")), name, stand_ins)
        except NotRunnable as error:
            raise Trouble(f"queue {name} can't run here: {error}") from None
    workflow = _program(maps[object_name(model.name, "manager")]["manager.py"])
    sources = {
        port: _source(model, node.name, port.output, given, periods)
        for node in workflow.sources.values()
        for port in node.ports()
    }
    carriers = {name: _carrier(model, maps, name, given, periods) for name in workflow.carriers}
    return Local(workflow, files, stand_ins, sources, carriers, remembered(model))


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


def _files(data: Mapping[str, str]) -> QueueFiles:
    return QueueFiles(data["settings.yaml"], data["job.yaml"], {"kind": "ConfigMap", "name": "", "uid": ""})


def _programs(queue: Queue, pod: dict[str, Any], given: Mapping[str, Path]) -> dict[str, tuple[str, ...]]:
    """By container, what runs instead of its image's program: the arguments stay. Raises Trouble."""
    containers = [
        each["name"]
        for each in [*pod.get("initContainers", ()), *pod["containers"]]
        if each.get("command", [])[:1] != [PROGRAM]
    ]
    programs: dict[str, tuple[str, ...]] = {}
    for container, step in zip(containers, queue.worker.steps, strict=True):
        if step.name in given:
            programs[container] = (str(given[step.name].absolute()), *step.command[1:])
        elif not step.run:
            raise Trouble(
                f"worker {step.name} has no script to run here, only an image: "
                f"--command {step.name}=PROGRAM stands in for it"
            )
    return programs


def _program(text: str) -> Workflow:
    """The very manager that runs on a cluster, not started."""
    names: dict[str, Any] = {"__name__": "manager"}
    exec(compile(text, "manager.py", "exec"), names)
    workflow = names["workflow"]
    assert isinstance(workflow, Workflow)
    return workflow


def _source(model: Model, name: str, member: str, given: Given, periods: Periods) -> running.Source:
    if url := given.sources.get(name):
        return HttpSource(f"{url.rstrip('/')}/{member}" if member else url, periods.request)
    node = model.nodes[name]
    assert isinstance(node, Source)
    try:
        return open_source(source_settings_here(model.name, node, member, given), member, periods)
    except running.SourceError as error:
        raise Trouble(str(error)) from None


def _carrier(
    model: Model, maps: Mapping[str, dict[str, str]], name: str, given: Given, periods: Periods
) -> running_carrier.Carrier:
    node = model.nodes[name]
    assert isinstance(node, Carrier)
    settings = read_carrier_settings(maps[object_name(model.name, name)]["carrier.yaml"])
    try:
        return open_carrier(
            replace(settings, options={**settings.options, **options_here(node.options, given)}), periods
        )
    except running.SourceError as error:
        raise Trouble(str(error)) from None
