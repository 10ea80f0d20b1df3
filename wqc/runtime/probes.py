"""What the manager says about itself over HTTP: whether it lives, whether it is ready, and metrics.

/healthz   200 while the event loop turns
/readyz    200 once every queue knows its Jobs and its record; else 503 and why
/metrics   https://prometheus.io/docs/instrumenting/exposition_formats/
"""

import asyncio
from collections.abc import Callable, Iterator

from wqc.runtime.httpserver import Answer, Request, on_loop
from wqc.runtime.status import Status

PATIENCE = 5.0
"""Seconds that the event loop may be busy."""
PLAIN = "text/plain; charset=utf-8"
METRICS = "text/plain; version=0.0.4; charset=utf-8"
_STATES = ("waiting", "running", "done", "failed", "handing")


class Probes:
    def __init__(self, workflow: str, status: Callable[[], Status], loop: asyncio.AbstractEventLoop) -> None:
        self._workflow = workflow
        self._status = status
        self._loop = loop

    def respond(self, request: Request) -> Answer:
        return on_loop(self._loop, self._answer(request.path), PATIENCE)

    async def _answer(self, path: str) -> Answer:
        match path:
            case "/healthz":
                return Answer(200, b"alive\n", PLAIN)
            case "/readyz":
                return _readiness(self._status())
            case "/metrics":
                text = "".join(f"{line}\n" for line in metrics(self._workflow, self._status()))
                return Answer(200, text.encode(), METRICS)
            case _:
                return Answer(404, b"there is nothing here\n", PLAIN)


def _readiness(status: Status) -> Answer:
    if not status.queues:
        return Answer(503, b"the queues' settings aren't read yet\n", PLAIN)
    missing = [queue.queue for queue in status.queues if not queue.knows]
    if missing:
        text = f"not known yet what runs and what is finished in {', '.join(missing)}\n"
        return Answer(503, text.encode(), PLAIN)
    return Answer(200, b"ready\n", PLAIN)


def metrics(workflow: str, status: Status) -> Iterator[str]:
    yield "# HELP wqc_items Items of a queue by state; handing: finished, and not yet with every reader."
    yield "# TYPE wqc_items gauge"
    for queue in status.queues:
        for state in _STATES:
            labels = _labels(workflow=workflow, queue=queue.queue, state=state)
            yield f"wqc_items{labels} {getattr(queue, state)}"
    yield "# HELP wqc_parallelism How many items of a queue may be worked on at a time."
    yield "# TYPE wqc_parallelism gauge"
    for queue in status.queues:
        yield f"wqc_parallelism{_labels(workflow=workflow, queue=queue.queue)} {queue.parallelism}"
    yield "# HELP wqc_queue_blocked 1 while something keeps the queue or one of its items from starting."
    yield "# TYPE wqc_queue_blocked gauge"
    for queue in status.queues:
        yield f"wqc_queue_blocked{_labels(workflow=workflow, queue=queue.queue)} {int(bool(queue.blocked))}"
    yield "# HELP wqc_source_up 1 while the source can be listed."
    yield "# TYPE wqc_source_up gauge"
    for source in status.sources:
        yield f"wqc_source_up{_labels(workflow=workflow, source=source.source)} {int(not source.problem)}"
    yield "# HELP wqc_stuck_items Items that failed in a pattern node and are held."
    yield "# TYPE wqc_stuck_items gauge"
    for node in sorted({each.node for each in status.stuck}):
        count = sum(each.node == node for each in status.stuck)
        yield f"wqc_stuck_items{_labels(workflow=workflow, node=node)} {count}"


def _labels(**labels: str) -> str:
    """Names of the language alone: none needs an escape."""
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}"
