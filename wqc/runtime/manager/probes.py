"""What the manager says about itself over HTTP: whether it lives, whether it is ready, and metrics.

/healthz   200 while the event loop turns
/readyz    200 once every queue knows its Jobs and its record; else 503 and why
/metrics   what it measures, for Prometheus
"""

import asyncio
from collections.abc import Callable

from wqc.runtime.httpserver import Answer, Request, on_loop
from wqc.runtime.manager.metrics import exposition
from wqc.runtime.manager.status import Status
from wqc.runtime.stores.kubernetes.traffic import Traffic

PATIENCE = 5.0
"""Seconds that the event loop may be busy."""
PLAIN = "text/plain; charset=utf-8"
METRICS = "text/plain; version=0.0.4; charset=utf-8"


class Probes:
    def __init__(
        self,
        workflow: str,
        status: Callable[[], Status],
        traffic: Traffic,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._workflow = workflow
        self._status = status
        self._traffic = traffic
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
                text = exposition(self._workflow, self._status(), self._traffic)
                return Answer(200, text.encode(), METRICS)
            case _:
                return Answer(404, b"there is nothing here\n", PLAIN)


def _readiness(status: Status) -> Answer:
    if not (status.queues or status.carriers):
        return Answer(503, b"the queues' settings aren't read yet\n", PLAIN)
    missing = [queue.queue for queue in status.queues if not queue.knows]
    missing += [carrier.carrier for carrier in status.carriers if not carrier.knows]
    if missing:
        text = f"not known yet what runs and what is finished in {', '.join(missing)}\n"
        return Answer(503, text.encode(), PLAIN)
    return Answer(200, b"ready\n", PLAIN)
