"""`manager.yaml`: the generated program, and the Deployment that runs it with its ambassadors."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from wqc.contract.names import MANAGER, object_name
from wqc.contract.pod import MANAGER_PORT, PROGRAM, SETTINGS_FOLDER
from wqc.emit.objects import credentials
from wqc.emit.objects.containers import (
    Container,
    Probe,
    Resources,
    Security,
    environment,
    resources,
)
from wqc.emit.objects.metadata import Metadata, of_workflow
from wqc.emit.objects.pods import Pod
from wqc.emit.objects.program import Program
from wqc.emit.objects.source import EndFile
from wqc.emit.objects.volumes import TMP, TMP_SIZE, Mount, Volumes
from wqc.emit.objects.workers import worker_mounts
from wqc.emit.placement import Ambassador, Placement
from wqc.model.nodes import Carrier, Source, Worker
from wqc.model.workflow import Workflow

SETTINGS = "settings"
TOKEN = "token"
TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"

_PROBES = (
    Probe("startup", "/healthz", period=2, failures=30),
    Probe("liveness", "/healthz", period=20),
    Probe("readiness", "/readyz"),
)


class ManagerFile(NamedTuple):
    """`metadata` is the Deployment's; the ConfigMap with the program has the same."""

    file: str
    metadata: Metadata
    program: Program
    pod: Pod


def manager_file(
    workflow: Workflow, placement: Placement, program: Program, ends: Mapping[str, EndFile], image: str
) -> ManagerFile:
    """`ends` are the settings of sources and carriers by node; `image` is the run time's."""
    volumes = Volumes()
    volumes.add(SETTINGS, _settings_volume(workflow, ends.values()))
    volumes.add(TOKEN, _token_volume())
    volumes.empty(TMP, TMP_SIZE)
    manager = workflow.manager
    restricted = manager.profile == "restricted"
    containers = [
        Container(
            name=MANAGER,
            image=image,
            command=("python", f"{SETTINGS_FOLDER}/manager.py"),
            args=(),
            env=(),
            resources=resources(manager.cpu, manager.memory),
            security=Security(restricted, read_only_root=True),
            mounts=(
                Mount(SETTINGS, SETTINGS_FOLDER, True),
                Mount(TOKEN, TOKEN_FOLDER, True),
                Mount(TMP, "/tmp", sub_path=MANAGER),
            ),
            port=MANAGER_PORT,
            probes=_PROBES,
        )
    ]
    containers += [
        _ambassador(ambassador, image, restricted, manager.user, volumes)
        for ambassador in placement.ambassadors
    ]
    pod = Pod(
        service_account=object_name(workflow.name, MANAGER),
        user=manager.user,
        restricted=restricted,
        keeps_ownership=any(ambassador.mounts for ambassador in placement.ambassadors),
        containers=tuple(containers),
        volumes=volumes.all(),
        raw=(manager.pod,) if manager.pod else (),
    )
    metadata = of_workflow(workflow, MANAGER)._replace(app=object_name(workflow.name))
    return ManagerFile("manager.yaml", metadata, program, pod)


def _ambassador(
    served: Ambassador, image: str, restricted: bool, pod_user: int, volumes: Volumes
) -> Container:
    first = served.nodes[0]
    if isinstance(first, Source) and first.kind == "container":
        return _own(served.name, first, restricted, pod_user, volumes)
    block = "source" if isinstance(first, Source) else "carrier"
    mounts = [Mount(SETTINGS, SETTINGS_FOLDER, True), Mount(TMP, "/tmp", sub_path=served.name)]
    mounts += [volumes.mount(path, volume, only_read=True) for path, volume in served.mounts]
    mounts += credentials.mounts(served.name, served.credentials, volumes)
    return Container(
        name=served.name,
        image=image,
        command=(PROGRAM, block, f"--port={served.port}", *(node.name for node in served.nodes)),
        args=(),
        env=(),
        resources=_largest(served.nodes),
        security=Security(restricted, read_only_root=True),
        mounts=tuple(mounts),
    )


def _own(name: str, source: Source, restricted: bool, pod_user: int, volumes: Volumes) -> Container:
    """The user's own ambassador: its image, and no settings of ours."""
    options = source.options
    user = options.get("user", pod_user)
    program = Worker(
        name, source.declaration, env=options.get("env", {}), mounts=options.get("mounts", {}), user=user
    )
    return Container(
        name=name,
        image=options["image"],
        command=tuple(options.get("command", ())),
        args=(),
        env=environment(program.env),
        resources=resources(source.cpu, source.memory),
        security=Security(
            restricted,
            read_only_root=not options.get("writable_root", False),
            user=user if user != pod_user else None,
        ),
        mounts=worker_mounts(program, volumes, own_tmp=name),
    )


def _largest(nodes: tuple[Source | Carrier, ...]) -> Resources:
    """What the one that needs most asks for: those that share an ambassador seldom work at the same time."""
    cpu = max((node.cpu for node in nodes), key=lambda cpu: (cpu.high, cpu.low))
    memory = max((node.memory for node in nodes), key=lambda memory: (memory.high, memory.low))
    return resources(cpu, memory)


def _settings_volume(workflow: Workflow, ends: Iterable[EndFile]) -> dict[str, Any]:
    program = object_name(workflow.name, MANAGER)
    sources: list[dict[str, Any]] = [{"configMap": {"name": program}}]
    for end in ends:
        key = f"{end.block}.yaml"
        sources.append(
            {"configMap": {"name": end.metadata.name, "items": [{"key": key, "path": f"{end.node}/{key}"}]}}
        )
    return {"projected": {"sources": sources}}


def _token_volume() -> dict[str, Any]:
    """What a pod is given by default, but for one container alone."""
    namespace = {"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}
    return {
        "projected": {
            "sources": [
                {"serviceAccountToken": {"path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                {"downwardAPI": {"items": [namespace]}},
            ]
        }
    }
