"""From declarations to the workflow: every name becomes the thing that it stands for."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Literal, TypeVar

from wqc.contract.expression import Param
from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import graph, names, values
from wqc.language import syntax
from wqc.language.coerce import Coercion
from wqc.language.declaration import Declaration, Given
from wqc.language.lower import Program
from wqc.language.scope import Scope
from wqc.language.types import Data
from wqc.language.values import Cpu, Duration, Memory, Range, Reference
from wqc.language.written import key_place
from wqc.model.nodes import (
    Batch,
    Carrier,
    Copier,
    Filter,
    Merger,
    Node,
    Queue,
    Sharder,
    Source,
    Splitter,
    StreamRef,
    Worker,
)
from wqc.model.references import NODE_BLOCKS, stream_of, unknown_members
from wqc.model.workflow import Budget, Cluster, Manager, Workflow

Record = TypeVar("Record", Manager, Budget, Cluster, Worker)

_HOUR = Duration(3_600_000_000)
_AMBASSADOR_CPU = Range(Cpu(10), Cpu(10))
_AMBASSADOR_MEMORY = Range(Memory(128 << 20), Memory(128 << 20))
_OUTPUTS = ("failed", "otherwise")
_NOT_OPTIONS = ("each", "arrives", "cpu", "memory", "from")


def resolve(program: Program) -> tuple[Workflow | None, list[Finding]]:
    """The workflow of a program; `None` without a `workflow` block. Nodes that can't be understood are left
    out of it.
    """
    resolver = _Resolver(program)
    return resolver.workflow(), resolver.findings


class _Resolver:
    def __init__(self, program: Program) -> None:
        self.findings: list[Finding] = []
        self._program = program
        self._declarations = {
            declaration.name: declaration
            for declaration in program.declarations
            if declaration.type.named and declaration.block != "workflow"
        }
        self._singles = {
            declaration.block: declaration
            for declaration in program.declarations
            if not declaration.type.named or declaration.block == "workflow"
        }
        self._worker_declarations = {
            name: declaration
            for name, declaration in self._declarations.items()
            if declaration.block == "worker"
        } | dict(program.library_workers)
        self._workers: dict[str, Worker | None] = {}

    def workflow(self) -> Workflow | None:
        own = self._singles.get("workflow")
        if own is None:
            return None
        for name in self._worker_declarations:
            self._worker(name)
        nodes: dict[str, Node] = {}
        intended = 0
        for declaration in self._declarations.values():
            if declaration.block not in NODE_BLOCKS:
                continue
            intended += 1
            node = self._node(declaration)
            if node is not None:
                nodes[node.name] = node
        self.findings += unknown_members(nodes, self._declarations)
        _read_as_text(nodes)
        declared_workers = {name: worker for name, worker in self._workers.items() if worker is not None}
        return Workflow(
            name=own.name,
            declaration=own,
            namespace=own.get("namespace", ""),
            retired=own.get("retired", ()),
            manager=self._manager(),
            budget=self._budget(),
            cluster=self._cluster(),
            nodes=nodes,
            workers=declared_workers,
            params=_cel_params(self._program.scope),
            complete=intended == len(nodes) and not self.findings and not self._program.broken,
        )

    def _manager(self) -> Manager:
        given = self._singles.get("manager")
        return _with_given(Manager(), given, ("image", "cpu", "memory", "user", "profile", "pod"))

    def _budget(self) -> Budget:
        return _with_given(Budget(), self._singles.get("budget"), ("cpu", "memory", "pods"))

    def _cluster(self) -> Cluster:
        given = self._singles.get("cluster")
        return _with_given(Cluster(), given, ("jobs_per_second", "pod_start", "api_server"))

    def _worker(self, name: str, chain: tuple[str, ...] = ()) -> Worker | None:
        if name not in self._workers:
            self._workers[name] = self._new_worker(name, self._worker_declarations[name], chain)
        return self._workers[name]

    def _new_worker(self, name: str, given: Declaration, chain: tuple[str, ...]) -> Worker | None:
        if given.parameters or not given.valid:
            return None
        steps: list[Worker] = []
        for reference in given.get("pipeline", ()):
            step = self._step(name, reference, chain)
            if step is None:
                return None
            steps += step.steps
        if not self._worker_parts(given):
            return None
        takes = given.get("takes")
        if takes is None and steps and all(step.takes is not None for step in steps):
            takes = Duration(sum(step.takes.microseconds for step in steps if step.takes is not None))
        worker = Worker(name, given, pipeline=tuple(steps), takes=takes)
        plain = (
            "image",
            "command",
            "run",
            "input",
            "env",
            "mounts",
            "cpu",
            "memory",
            "resources",
            "scratch",
            "user",
        )
        return _with_given(worker, given, (*plain, "writable_root", "profile", "egress", "pod"))

    def _step(self, name: str, reference: Reference, chain: tuple[str, ...]) -> Worker | None:
        if str(reference) == name or str(reference) in chain:
            self.findings.append(names.worker_cycle(reference.span, str(reference)))
            return None
        return self._worker_of(reference, (*chain, name))

    def _worker_parts(self, given: Declaration) -> bool:
        """Whether the attributes go together."""
        before = len(self.findings)
        has = given.attributes.keys()
        for first, second, reason in (
            ("pipeline", "image", "a pipeline's images are those of its workers"),
            ("pipeline", "command", "a pipeline's commands are those of its workers"),
            ("pipeline", "run", "a pipeline's scripts are those of its workers"),
            ("pipeline", "input", "each of its workers has its own"),
            ("command", "run", "`run` is a script for the shell, `command` is run without one"),
        ):
            if first in has and second in has:
                at = given.attributes[second].key
                self.findings.append(values.exclusive_attributes(at, first, second, reason))
        if "image" not in has and "pipeline" not in has:
            self.findings.append(names.worker_without_image(given.head))
        return len(self.findings) == before

    def _worker_of(self, reference: Reference, chain: tuple[str, ...] = ()) -> Worker | None:
        """The worker that a reference names; `None` if it is wrong, which is then reported."""
        name = str(reference)
        given = self._worker_declarations.get(name)
        if given is None and reference.names[0] in self._program.broken:
            return None
        if given is None:
            other = self._declarations.get(name)
            if other is not None:
                self.findings.append(
                    names.not_a(reference.span, "worker", name, other.block, other.name_span)
                )
            else:
                self.findings.append(
                    names.unknown_name(reference.span, "worker", name, list(self._worker_declarations))
                )
            return None
        if given.parameters:
            self.findings.append(names.generic_worker_used(reference.span, name, given.parameters))
            return None
        return self._worker(name, chain)

    def _node(self, given: Declaration) -> Node | None:
        worker = self._worker_of(given.get("worker")) if given.get("worker") else None
        source = self._stream(given.get("from")) if isinstance(given.get("from"), Reference) else None
        if not given.valid or _missing(given):
            return None
        match given.block:
            case "source":
                return self._source(given)
            case "queue" if source and worker:
                return _queue(given, source, worker)
            case "batch" if source and worker:
                return _batch(given, source, worker)
            case "carrier" if source:
                cpu, memory = given.get("cpu", _AMBASSADOR_CPU), given.get("memory", _AMBASSADOR_MEMORY)
                return Carrier(given.name, given, given.kind, source, _options(given.attributes), cpu, memory)
            case "copier" if source:
                return Copier(given.name, given, source)
            case "filter" if source:
                return Filter(given.name, given, source, given.get("where"), given.get("share", 1.0))
            case "splitter" if source:
                return self._splitter(given, source)
            case "sharder" if source:
                return self._sharder(given, source)
            case "merger":
                return self._merger(given)
        return None

    def _check_outputs(self, given: Declaration, attribute: str, written: Iterable[str]) -> None:
        """Outputs that the user names must not be those that nodes have anyway."""
        for index, name in enumerate(written):
            if name in _OUTPUTS:
                value = given.attributes[attribute].written
                step = name if isinstance(value, syntax.MapValue) else index
                self.findings.append(names.taken_output(key_place(value, (step,)), name, given.name))

    def _check_repeated(self, references: Iterable[Reference]) -> None:
        first: dict[str, Reference] = {}
        for reference in references:
            if str(reference) in first:
                at = first[str(reference)].span
                self.findings.append(values.duplicate_key(reference.span, str(reference), at))
            first.setdefault(str(reference), reference)

    def _source(self, given: Declaration) -> Source:
        self._check_outputs(given, "each", given.members)
        return Source(
            name=given.name,
            declaration=given,
            kind=given.kind,
            options={} if given.members else _options(given.attributes),
            members={member: _options(attributes) for member, attributes in given.members.items()},
            arrives=_first(given, "arrives"),
            cpu=_first(given, "cpu") or _AMBASSADOR_CPU,
            memory=_first(given, "memory") or _AMBASSADOR_MEMORY,
        )

    def _splitter(self, given: Declaration, source: StreamRef) -> Splitter:
        cases = given.get("cases")
        self._check_outputs(given, "cases", cases)
        share = given.get("share", {})
        for name in share:
            if name not in cases:
                at = key_place(given.attributes["share"].written, (name,))
                self.findings.append(names.unmatched_entry(at, "case", name, list(cases)))
        shares = {case: share.get(case, 1.0) for case in cases}
        return Splitter(given.name, given, source, cases, shares, given.get("otherwise") == "drop")

    def _sharder(self, given: Declaration, source: StreamRef) -> Sharder:
        shards = given.get("shards")
        self._check_outputs(given, "shards", map(str, shards))
        if isinstance(shards, tuple):
            self._check_repeated(shards)
            shards = {str(shard): None for shard in shards}
        rollout = given.get("rollout", {})
        self._check_repeated(rollout.get("order", ()))
        for shard in rollout.get("order", ()):
            if str(shard) not in shards:
                self.findings.append(names.unmatched_entry(shard.span, "shard", str(shard), list(shards)))
        order = tuple(str(shard) for shard in rollout.get("order", ()))
        left_out = [shard for shard in shards if shard not in order]
        if order and left_out and not set(order) - shards.keys():
            self.findings.append(graph.incomplete_order(given.span_of("rollout"), left_out))
        return Sharder(given.name, given, source, given.get("key"), shards, order, rollout.get("prove", 20))

    def _merger(self, given: Declaration) -> Merger | None:
        references = given.get("from")
        streams = [
            self._stream(reference)
            for reference in (references if isinstance(references, tuple) else (references,))
        ]
        if any(stream is None for stream in streams):
            return None
        return Merger(given.name, given, tuple(stream for stream in streams if stream))

    def _stream(self, reference: Reference) -> StreamRef | None:
        return stream_of(reference, self._declarations, self._program.broken, self.findings)


def _queue(given: Declaration, source: StreamRef, worker: Worker) -> Queue:
    return Queue(
        name=given.name,
        declaration=given,
        source=source,
        worker=worker,
        parallelism=given.get("parallelism", Range(1, 1)),
        retries=given.get("retries", 3),
        timeout=given.get("timeout"),
        env=given.get("env", {}),
        takes=given.get("takes", worker.takes),
        result=given.get("result", "none"),
        rework=given.get("rework", "never"),
        poison=given.get("poison", ()),
        deadline=given.get("deadline", _HOUR),
        failure_rate=given.get("failure_rate", 0.0),
        handover=given.get("handover", 500),
        failed_limit=given.get("failed_limit", 1000),
        keep=given.get("keep", _HOUR),
        place=given.get("place"),
        paused=given.get("paused", False),
        formerly=given.get("formerly", ""),
    )


def _batch(given: Declaration, source: StreamRef, worker: Worker) -> Batch:
    kind: Literal["coarse", "fine"] = "fine" if given.kind == "fine" else "coarse"
    return Batch(
        name=given.name,
        declaration=given,
        kind=kind,
        source=source,
        worker=worker,
        parallelism=given.get("parallelism", 1),
        completions=given.get("completions"),
        retries=given.get("retries", 3),
        timeout=given.get("timeout"),
        env=given.get("env", {}),
        takes=given.get("takes", worker.takes),
        wait=given.get("wait", Duration(600_000_000)),
        place=given.get("place"),
        run=given.get("run", "1"),
    )


def _read_as_text(nodes: dict[str, Node]) -> None:
    """The messages of a batch are text unless their source says otherwise."""
    for batch in [node for node in nodes.values() if isinstance(node, Batch)]:
        source = nodes.get(batch.source.node)
        if isinstance(source, Source) and not source.members:
            format = source.options.get("format", "text")
            nodes[source.name] = replace(source, options={**source.options, "format": format})


def _options(attributes: Mapping[str, Given]) -> dict[str, Any]:
    return {name: given.value for name, given in attributes.items() if name not in _NOT_OPTIONS}


def _first(given: Declaration, name: str) -> Any:
    """An attribute of a source, which the members of a bundle have alike."""
    for attributes in (given.attributes, *given.members.values()):
        if name in attributes:
            return attributes[name].value
    return None


def _missing(given: Declaration) -> bool:
    """Whether a required attribute is absent, which was reported."""
    keys = set(given.attributes) | {key for member in given.members.values() for key in member}
    return any(row.required and row.name not in keys for row in given.type.attributes)


def _with_given(initial: Record, given: Declaration | None, names: tuple[str, ...]) -> Record:
    """`initial`, a frozen dataclass, with those fields that the declaration gives."""
    if given is None:
        return initial
    values = {name: value for name in names if (value := given.get(name)) is not None}
    return replace(initial, declaration=given, **values)


def _cel_params(scope: Scope) -> tuple[tuple[str, Param], ...]:
    """The params that conditions may use: strings, numbers and booleans."""
    params: list[tuple[str, Param]] = []
    for name, binding in scope.bindings.items():
        value = Coercion().value(binding.value, Data(), binding.scope, name)
        if isinstance(value, Decimal):
            value = float(value)
        if isinstance(value, str | int | float | bool):
            params.append((name, value))
    return tuple(params)
