"""What the workflow requests at its peak, against the budget of its namespace."""

from collections.abc import Iterator
from dataclasses import dataclass

from wqc.diagnostics.finding import Finding, Label
from wqc.diagnostics.mistakes import kubernetes as mistakes
from wqc.diagnostics.source import Span
from wqc.emit.objects.workers import steps
from wqc.emit.placement import Placement, place
from wqc.language.values import Cpu, Memory
from wqc.model.nodes import Batch, Queue, Source, Worker
from wqc.model.streams import Streams
from wqc.model.workflow import Workflow

_SHOWN = 8
_NAMES = {"cpu": "CPU", "memory": "of memory", "pods": "pods"}


@dataclass(frozen=True, slots=True)
class Part:
    """Pods that are alike: `pods` of them, each with so many millicores and bytes, `None` if not requested.

    `lanes` share the parallelism that is declared at `span`; what has no parallelism has `None` there.
    """

    name: str
    pods: int
    cpu: int | None
    memory: int | None
    lanes: int
    span: Span | None

    def amount(self, what: str) -> int:
        """Of cpu, memory or pods, by all of them."""
        each = 1 if what == "pods" else getattr(self, what)
        return self.pods * (each or 0)


def peak(workflow: Workflow) -> Iterator[Finding]:
    """More than the budget has, and workers of which nothing is known."""
    budget = workflow.budget
    limited = [what for what in ("cpu", "memory", "pods") if getattr(budget, what) is not None]
    for worker in _used(workflow):
        missing = [what for what in ("cpu", "memory") if getattr(worker, what) is None]
        if missing:
            at = worker.declaration.name_span
            in_budget = [what for what in missing if what in limited]
            yield mistakes.no_request(at, worker.name, missing, in_budget)
    if budget.declaration is None:
        return
    parts = parts_of(workflow)
    for what in limited:
        limit = _plain(getattr(budget, what))
        if sum(part.amount(what) for part in parts) > limit:
            yield _over(budget.declaration.span_of(what), what, limit, parts)


def parts_of(workflow: Workflow) -> list[Part]:
    """All that runs at the peak, in the order declared, the manager's pod last."""
    streams = Streams(workflow.nodes)
    parts: list[Part] = []
    for node in workflow.nodes.values():
        match node:
            case Queue():
                lanes = len(streams.lanes(node)) or 1
                cpu, memory = _requests(node.worker)
                at = node.declaration.span_of("parallelism")
                parts.append(Part(node.name, lanes * node.parallelism.high, cpu, memory, lanes, at))
            case Batch():
                cpu, memory = _with_sidecar(node, workflow)
                # Index 0 of a measured batch only watches.
                pods = node.parallelism + (node.completions is None)
                at = node.declaration.span_of("parallelism")
                parts.append(Part(node.name, pods, cpu, memory, 1, at))
    placement = place(workflow)
    if placement.has_manager:
        parts.append(_manager(workflow, placement))
    return parts


def _manager(workflow: Workflow, placement: Placement) -> Part:
    """The manager's pod with its ambassadors."""
    cpu, memory = workflow.manager.cpu.low.millicores, workflow.manager.memory.low.bytes
    for ambassador in placement.ambassadors:
        # One that serves several runs as one container, as large as the largest of them.
        cpu += max(node.cpu.low.millicores for node in ambassador.nodes)
        memory += max(node.memory.low.bytes for node in ambassador.nodes)
    return Part("manager", 1, cpu, memory, 1, None)


def _used(workflow: Workflow) -> list[Worker]:
    """The workers whose containers run, each once, as they run."""
    used = (
        step
        for node in workflow.nodes.values()
        if isinstance(node, Queue | Batch)
        for step in steps(node.worker)
    )
    return list({step.name: step for step in used}.values())


def _requests(worker: Worker) -> tuple[int | None, int | None]:
    """A pod's: the steps run one after the other, so the greatest counts (KEP-753)."""
    cpu = [step.cpu.low.millicores for step in steps(worker) if step.cpu]
    memory = [step.memory.low.bytes for step in steps(worker) if step.memory]
    return max(cpu, default=None), max(memory, default=None)


def _with_sidecar(batch: Batch, workflow: Workflow) -> tuple[int | None, int | None]:
    """A batch's pod: the worker and, all the while, the sidecar that talks to the broker."""
    cpu, memory = _requests(batch.worker)
    source = workflow.nodes.get(batch.source.node)
    if isinstance(source, Source):
        cpu = (cpu or 0) + source.cpu.low.millicores
        memory = (memory or 0) + source.memory.low.bytes
    return cpu, memory


def _over(at: Span, what: str, limit: int, parts: list[Part]) -> Finding:
    total = sum(part.amount(what) for part in parts)
    counted = sorted((part for part in parts if part.amount(what)), key=lambda part: -part.amount(what))
    arithmetic = [_line(part, what) for part in counted[:_SHOWN]]
    if counted[_SHOWN:]:
        rest = sum(part.amount(what) for part in counted[_SHOWN:])
        arithmetic.append(f"{len(counted) - _SHOWN} more: {_words(what, rest)}")
    largest = next((part for part in counted if part.span), None)
    also: tuple[Label, ...] = ()
    advice = "raise the budget"
    if largest and largest.span:
        also = (Label(largest.span, f"takes {_words(what, largest.amount(what))} of them"),)
        each = largest.amount(what) // largest.pods
        fitting = (limit - total + largest.amount(what)) // each // largest.lanes
        lanes = " in each lane" if largest.lanes > 1 else ""
        if fitting > 0:
            advice = f"lower the parallelism of `{largest.name}` to {fitting}{lanes}, or raise the budget"
        else:
            advice = "lower the parallelism of several, or raise the budget"
    return mistakes.over_budget(
        at, _NAMES[what], _words(what, total), _words(what, limit), arithmetic, also, advice
    )


def _line(part: Part, what: str) -> str:
    """The part of the sum that is one kind of pod."""
    if what == "pods" or part.pods == 1:
        return f"{part.name}: {_words(what, part.amount(what))}"
    lanes = f"{part.lanes} lanes of " if part.lanes > 1 else ""
    each = _words(what, part.amount(what) // part.pods)
    return (
        f"{part.name}: {lanes}{part.pods // part.lanes} pods, {each} each = {_words(what, part.amount(what))}"
    )


def _words(what: str, amount: int) -> str:
    match what:
        case "cpu":
            return f"{amount / 1000:g}"
        case "memory":
            return str(Memory(amount))
    return str(amount)


def _plain(amount: Cpu | Memory | int) -> int:
    match amount:
        case Cpu(millicores):
            return millicores
        case Memory(size):
            return size
    return amount
