"""What a manager measures, as Prometheus reads it.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from wqc.runtime.manager.status import QueueStatus, Status
from wqc.runtime.stores.kubernetes.traffic import Traffic

STATES = ("waiting", "running", "done", "failed", "handing")


class Sample(NamedTuple):
    labels: dict[str, str]
    """Values are names of the language or of Kubernetes: none needs an escape."""
    value: float | None
    """None: not known, and not shown."""


def exposition(workflow: str, status: Status, traffic: Traffic) -> str:
    lines: list[str] = []
    for name, kind, text, samples in _families(status, traffic):
        lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
        for labels, value in samples:
            if value is not None:
                shown = ",".join(f'{key}="{each}"' for key, each in {"workflow": workflow, **labels}.items())
                lines.append(f"{name}{{{shown}}} {round(value, 6):.15g}")
    return "".join(f"{line}\n" for line in lines)


def _families(status: Status, traffic: Traffic) -> Iterator[tuple[str, str, str, Iterable[Sample]]]:
    def queues(measure: Callable[[QueueStatus], float | None]) -> Iterator[Sample]:
        return (Sample({"queue": each.queue}, measure(each)) for each in status.queues)

    yield (
        "wqc_items",
        "gauge",
        "Items of a queue by state; handing: ended, and not yet with every reader.",
        (
            Sample({"queue": each.queue, "state": state}, getattr(each, state))
            for each in status.queues
            for state in STATES
        ),
    )
    yield (
        "wqc_held_items",
        "gauge",
        "Items of a queue that failed, and that no reader of .failed has: they wait for a person.",
        queues(lambda each: each.held),
    )
    yield (
        "wqc_oldest_waiting_seconds",
        "gauge",
        "How long the queue has had the item that waits longest; 0 if none waits.",
        queues(lambda each: each.oldest),
    )
    yield (
        "wqc_parallelism",
        "gauge",
        "How many items of a queue may be worked on at a time.",
        queues(lambda each: each.parallelism),
    )
    yield (
        "wqc_utilisation",
        "gauge",
        "The part of a queue's parallelism that is in use, 0 to 1.",
        queues(lambda each: min(1.0, each.running / each.parallelism) if each.parallelism else None),
    )
    yield (
        "wqc_arrival_interval_seconds",
        "gauge",
        "The mean time between two new items of a queue.",
        queues(lambda each: each.arrival_interval),
    )
    yield (
        "wqc_slot_seconds",
        "gauge",
        "The mean time that an item takes up one of the queue's slots.",
        queues(lambda each: each.slot_time),
    )
    yield (
        "wqc_queue_blocked",
        "gauge",
        "1 while something keeps the queue or one of its items from starting; reason: which kind of thing.",
        (
            Sample({"queue": each.queue, "reason": each.blocked_by}, bool(each.blocked))
            for each in status.queues
        ),
    )
    yield (
        "wqc_source_up",
        "gauge",
        "1 while the source can be listed.",
        (Sample({"source": each.source}, each.up) for each in status.sources),
    )
    yield (
        "wqc_carrier_items",
        "gauge",
        "Items of a carrier by state; done: published, and not forgotten yet.",
        (
            Sample({"carrier": each.carrier, "state": state}, getattr(each, state))
            for each in status.carriers
            for state in ("waiting", "done")
        ),
    )
    yield (
        "wqc_carrier_blocked",
        "gauge",
        "1 while something keeps the carrier or one of its items from being published.",
        (Sample({"carrier": each.carrier}, bool(each.blocked)) for each in status.carriers),
    )
    yield (
        "wqc_node_failed_items",
        "gauge",
        "Items that failed in a pattern node or a source, whose .failed nobody reads, and are held.",
        (Sample({"node": each.node}, each.failed) for each in status.nodes),
    )
    yield (
        "wqc_api_requests_total",
        "counter",
        "Requests to the API server, by the status of its answer; 0: there was none.",
        (
            Sample({"verb": verb, "resource": resource, "status": code}, count)
            for (verb, resource, code), count in traffic.calls()
        ),
    )
    yield (
        "wqc_watch_age_seconds",
        "gauge",
        "How long ago the API server last said something about these objects.",
        (Sample({"resource": resource}, age) for resource, age in traffic.ages()),
    )
