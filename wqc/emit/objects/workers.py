"""The pod of one attempt at an item: its worker, or the steps of a pipeline one after the other."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from wqc.contract.names import ITEM_ANNOTATION, object_name
from wqc.contract.pod import (
    ITEM_FOLDER,
    PROGRAM,
    RESULT_FILE,
    SCRATCH_FOLDER,
    STDIN_ANNOTATION,
    STEPS_FOLDER,
)
from wqc.emit.objects.containers import Container, Resources, Security, environment, resources, verbatim
from wqc.emit.objects.pods import Pod
from wqc.emit.objects.volumes import TMP, TMP_SIZE, Mount, Volumes, claims
from wqc.language.values import Cidr, Memory, Nodes
from wqc.model.nodes import Environment, Queue, Worker
from wqc.model.workflow import Workflow

SERVICE_ACCOUNT = "worker"
_SEED_NAME = "seed"
_LAST_NAME = "worker"
_SEED_RESOURCES = Resources({"cpu": "10m", "memory": "32Mi"}, {"memory": "32Mi"})


def pod(workflow: Workflow, queue: Queue, image: str) -> Pod:
    """The pod of a queue's attempts; `image` is the run time's, which fills in a pipeline's files."""
    worker = queue.worker
    volumes = Volumes()
    item = volumes.add("item", {"downwardAPI": {"items": _item_files(worker)}})
    if len(worker.steps) > 1:
        volumes.empty("steps", str(Memory(16 << 20)))
    if _has_scratch(worker):
        volumes.empty("scratch", str(worker.scratch))
    containers: list[Container] = []
    if len(worker.steps) > 1:
        containers.append(_seed(worker, image, item))
    for index, (name, step) in enumerate(zip(container_names(worker), steps(worker), strict=True)):
        containers.append(_container(worker, name, step, index, queue.env, item, volumes))
    return Pod(
        service_account=object_name(workflow.name, SERVICE_ACCOUNT),
        user=worker.user,
        restricted=is_restricted(worker),
        keeps_ownership=any(claims(value for step in steps(worker) for value in step.mounts.values())),
        init_containers=tuple(containers[:-1]),
        containers=(containers[-1],),
        volumes=volumes.all(),
        restart_policy="Never",
        deadline=0 if queue.timeout is None else -(-queue.timeout.microseconds // 1_000_000),
        node_selector=selector(queue.place),
        raw=raw_fields(worker),
    )


def selector(place: Nodes | None) -> dict[str, str]:
    return dict(place.labels) if place else {}


def is_restricted(worker: Worker) -> bool:
    """The pod is as strict as the least strict of its steps."""
    return all(each.profile == "restricted" for each in (worker, *worker.pipeline))


def raw_fields(worker: Worker) -> tuple[Mapping[str, Any], ...]:
    """The steps' own fields first."""
    return tuple(each.pod for each in (*worker.pipeline, worker) if each.pod)


def egress(worker: Worker) -> "tuple[Cidr, ...] | str":
    """Where the pod may connect to: what a pipeline says itself, else wherever one of its steps may."""
    if not worker.pipeline or "egress" in worker.declaration.attributes:
        return worker.egress
    every = [step.egress for step in worker.pipeline]
    if "any" in every:
        return "any"
    listed = [network for networks in every if isinstance(networks, tuple) for network in networks]
    return tuple(dict.fromkeys(listed)) or "none"


def run_container(
    step: Worker, name: str, contract: Environment, env: Environment, mounts: tuple[Mount, ...], pod_user: int
) -> Container:
    """A worker's container: `contract` are the variables that tell it where its item is."""
    variables = environment(contract, step.env, env)
    names = [variable.name for variable in variables]
    command, args = run_command(step)
    return Container(
        name=name,
        image=step.image,
        command=tuple(verbatim(text, names) for text in command),
        args=tuple(verbatim(text, names) for text in args),
        env=variables,
        resources=resources(step.cpu, step.memory, step.resources),
        security=Security(
            restricted=step.profile == "restricted",
            read_only_root=not step.writable_root,
            user=step.user if step.user != pod_user else None,
        ),
        mounts=mounts,
    )


def worker_mounts(step: Worker, volumes: Volumes, own_tmp: str = "") -> tuple[Mount, ...]:
    """`/tmp` and what the worker mounts itself; with `own_tmp`, its name, others don't see its files."""
    own = [] if "/tmp" in step.mounts else [Mount(volumes.empty(TMP, TMP_SIZE), "/tmp", sub_path=own_tmp)]
    return (*own, *(volumes.mount(path, value) for path, value in step.mounts.items()))


def run_command(step: Worker) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The container's command and args."""
    if step.run:
        script = f'exec < "$WORK_STDIN"\n{step.run}' if step.input == "stdin" else step.run
        return ("sh", "-ec"), (script,)
    if step.input == "stdin":
        # $0 of the shell, then the command itself
        return ("sh", "-c", 'exec "$@" < "$WORK_STDIN"', "sh"), step.command
    return step.command, ()


def steps(worker: Worker) -> tuple[Worker, ...]:
    """The containers in order. What a pipeline says itself holds for steps that don't say otherwise."""
    if not worker.pipeline:
        return (worker,)
    return tuple(_step_of(worker, step) for step in worker.pipeline)


def _step_of(pipeline: Worker, step: Worker) -> Worker:
    return replace(
        step,
        env={**step.env, **pipeline.env},
        mounts={**pipeline.mounts, **step.mounts},
        cpu=step.cpu or pipeline.cpu,
        memory=step.memory or pipeline.memory,
        resources={**pipeline.resources, **step.resources},
        user=step.user if "user" in step.declaration.attributes else pipeline.user,
        writable_root=step.writable_root or pipeline.writable_root,
        profile=step.profile if pipeline.profile == "restricted" else pipeline.profile,
    )


def _container(
    worker: Worker, name: str, step: Worker, index: int, env: Environment, item: str, volumes: Volumes
) -> Container:
    last = len(worker.steps) - 1
    contract = {
        "WORK_ITEM_FILE": f"{STEPS_FOLDER}/{index}.json" if index else f"{ITEM_FOLDER}/item.json",
        "WORK_ITEM_DIR": f"{ITEM_FOLDER}/fields",
        "WORK_RESULT_FILE": RESULT_FILE if index == last else f"{STEPS_FOLDER}/{index + 1}.json",
    }
    if step.input == "stdin":
        contract["WORK_STDIN"] = contract["WORK_ITEM_FILE"] if index else f"{ITEM_FOLDER}/stdin"
    mounts = [Mount(item, ITEM_FOLDER, True)]
    if last:
        mounts.append(Mount("steps", STEPS_FOLDER))
    if _has_scratch(worker):
        contract["WORK_SCRATCH"] = SCRATCH_FOLDER
        mounts.append(Mount("scratch", SCRATCH_FOLDER))
    mounts += worker_mounts(step, volumes)
    return run_container(step, name, contract, env, tuple(mounts), worker.user)


def container_names(worker: Worker) -> list[str]:
    """The containers' names: `worker`, which the manager knows, for the last; the others' workers'."""
    names = [_SEED_NAME, _LAST_NAME]
    for step in worker.steps[:-1]:
        name = step.name.rpartition(".")[2].replace("_", "-")
        names.insert(-1, f"{name}-{len(names) - 1}" if name in names else name)
    return names[1:]


def _has_scratch(worker: Worker) -> bool:
    return len(worker.steps) > 1 or "scratch" in worker.declaration.attributes


def _item_files(worker: Worker) -> list[dict[str, Any]]:
    files = [("item.json", ITEM_ANNOTATION)]
    if worker.steps[0].input == "stdin":
        files.append(("stdin", STDIN_ANNOTATION))
    return [
        {"path": path, "fieldRef": {"fieldPath": f"metadata.annotations['{annotation}']"}}
        for path, annotation in files
    ]


def _seed(worker: Worker, image: str, item: str) -> Container:
    seeded = range(1, len(worker.steps))
    return Container(
        name=_SEED_NAME,
        image=image,
        command=(
            PROGRAM,
            "seed",
            f"{ITEM_FOLDER}/item.json",
            *(f"{STEPS_FOLDER}/{step}.json" for step in seeded),
        ),
        args=(),
        env=(),
        resources=_SEED_RESOURCES,
        security=Security(restricted=is_restricted(worker), read_only_root=True),
        mounts=(Mount(item, ITEM_FOLDER, True), Mount("steps", STEPS_FOLDER)),
        comment="Each step's item is the one before's result; of a step that writes none, the queue's item.",
    )
