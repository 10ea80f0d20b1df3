"""`batch-NAME.yaml`: the finite Job over a message queue (design, section 4)."""

from dataclasses import replace
from typing import NamedTuple

from wqc.contract.names import object_name
from wqc.contract.pod import BATCH_FOLDER, PROGRAM, SETTINGS_FOLDER, WRAPPER
from wqc.emit.objects.containers import Container, Probe, Security, environment, resources, verbatim
from wqc.emit.objects.credentials import mounts as mounts_of
from wqc.emit.objects.manager import SETTINGS
from wqc.emit.objects.metadata import Metadata, of_node
from wqc.emit.objects.pods import Pod
from wqc.emit.objects.source import EndFile
from wqc.emit.objects.volumes import TMP, TMP_SIZE, Mount, Volumes, claims
from wqc.emit.objects.workers import (
    SERVICE_ACCOUNT,
    is_restricted,
    raw_fields,
    run_command,
    selector,
    worker_mounts,
)
from wqc.emit.placement import credentials
from wqc.model.nodes import Batch, Source, Worker
from wqc.model.workflow import Workflow

BATCH = "batch"
BROKER = "broker"
BATCH_SIZE = "256Mi"
MOST_PODS = 100_000
"""Of an Indexed Job. A measured coarse batch has a pod per message, and can't know how many there will be."""


class BatchFile(NamedTuple):
    """The Job's name still lacks the hash of its content; `settings` is the file that its sidecar reads.

    `measured`: the Job is Indexed, and ends when its first index does, which watches the queue.
    """

    file: str
    metadata: Metadata
    batch: str
    run: str
    settings: EndFile
    measured: bool
    completions: int
    parallelism: int
    pod: Pod


def batch_file(workflow: Workflow, batch: Batch, source: Source, settings: EndFile, image: str) -> BatchFile:
    """`settings` are the source's, `image` the run time's."""
    return BatchFile(
        file=f"batch-{batch.name.replace('_', '-')}.yaml",
        metadata=of_node(workflow, batch.name, "batch"),
        batch=batch.name,
        run=batch.run,
        settings=settings,
        measured=batch.completions is None,
        completions=_completions(batch),
        parallelism=batch.parallelism + (batch.completions is None),
        pod=_pod(workflow, batch, source, settings, image),
    )


def _completions(batch: Batch) -> int:
    match batch.kind, batch.completions:
        case "coarse", None:
            return MOST_PODS
        case "coarse", int(messages):
            return messages
        case _, None:
            return batch.parallelism + 1
        case _, int(messages):
            # each pod works until no message is left
            return min(batch.parallelism, messages)


def _pod(workflow: Workflow, batch: Batch, source: Source, settings: EndFile, image: str) -> Pod:
    worker = batch.worker
    volumes = Volumes()
    volumes.empty(BATCH, BATCH_SIZE)
    key = f"{settings.block}.yaml"
    items = [{"key": key, "path": f"{settings.node}/{key}"}]
    volumes.add(SETTINGS, {"configMap": {"name": settings.metadata.name, "items": items}})
    sidecar = _sidecar(batch, source, image, volumes)
    return Pod(
        service_account=object_name(workflow.name, SERVICE_ACCOUNT),
        user=worker.user,
        restricted=is_restricted(worker),
        keeps_ownership=any(claims(worker.mounts.values())),
        init_containers=(_installer(batch, source, image), sidecar),
        containers=(_worker(batch, volumes),),
        volumes=volumes.all(),
        restart_policy="Never",
        node_selector=selector(batch.place),
        raw=raw_fields(worker),
    )


def _installer(batch: Batch, source: Source, image: str) -> Container:
    return Container(
        name="install",
        image=image,
        command=(WRAPPER, "install", f"{BATCH_FOLDER}/wrapper"),
        args=(),
        env=(),
        resources=resources(source.cpu, source.memory),
        security=Security(is_restricted(batch.worker), read_only_root=True),
        mounts=(Mount(BATCH, BATCH_FOLDER),),
    )


def _sidecar(batch: Batch, source: Source, image: str, volumes: Volumes) -> Container:
    options = [f"--kind={batch.kind}", f"--retries={batch.retries}"]
    if batch.completions is None or batch.kind == "fine":
        options.append(f"--wait={batch.wait.seconds:g}")
    volumes.empty(TMP, TMP_SIZE)
    mounts = [
        Mount(SETTINGS, SETTINGS_FOLDER, True),
        Mount(BATCH, BATCH_FOLDER),
        Mount(TMP, "/tmp", sub_path=BROKER),
    ]
    mounts += mounts_of(BROKER, credentials(source), volumes)
    return Container(
        name=BROKER,
        image=image,
        command=(PROGRAM, "batch", *options, source.name),
        args=(),
        env=(),
        resources=resources(source.cpu, source.memory),
        security=Security(is_restricted(batch.worker), read_only_root=True),
        mounts=tuple(mounts),
        probes=(Probe("startup", command=(WRAPPER, "ready"), period=1, failures=300),),
        sidecar=True,
        comment="Holds the broker's connection and credentials; stopped only after the worker has ended.",
    )


def _worker(batch: Batch, volumes: Volumes) -> Container:
    worker = batch.worker
    contract = {
        "WORK_ITEM_FILE": f"{BATCH_FOLDER}/item.json",
        "WORK_ITEM_DIR": f"{BATCH_FOLDER}/fields",
        "WORK_RESULT_FILE": f"{BATCH_FOLDER}/result",
    }
    variables = environment(contract, worker.env, batch.env)
    names = [variable.name for variable in variables]
    return Container(
        name="worker",
        image=worker.image,
        command=(f"{BATCH_FOLDER}/wrapper", *_wrapper_options(batch), "--"),
        args=tuple(verbatim(text, names) for text in _program(worker)),
        env=variables,
        resources=resources(worker.cpu, worker.memory, worker.resources),
        security=Security(worker.profile == "restricted", read_only_root=not worker.writable_root),
        mounts=(Mount(BATCH, BATCH_FOLDER), *worker_mounts(worker, volumes, own_tmp="worker")),
    )


def _wrapper_options(batch: Batch) -> list[str]:
    options = ["--stdin"] if batch.worker.input == "stdin" else []
    if batch.timeout is not None:
        options.append(f"--timeout={batch.timeout.seconds:g}")
    return options


def _program(worker: Worker) -> tuple[str, ...]:
    """The wrapper feeds standard input itself."""
    command, args = run_command(replace(worker, input="file"))
    return (*command, *args)
