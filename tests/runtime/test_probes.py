"""What the kubelet is told: ready once all is known, alive as long as the event loop turns."""

import asyncio
import threading
import time
from dataclasses import replace

import pytest

from runtime.test_metrics import BUSY
from wqc.runtime.httpserver import Answer, Request
from wqc.runtime.manager import probes
from wqc.runtime.manager.probes import Probes
from wqc.runtime.manager.status import CarrierStatus, Status
from wqc.runtime.stores.kubernetes.traffic import Traffic

EMPTY = Status((), (), (), idle=False)
CARRIER = CarrierStatus("published", waiting=0, done=0, rate=0.0, blocked="", knows=False)


def asked(path: str, status: Status, busy: float = 0.0) -> Answer:
    """The answer to somebody who asks while the loop is kept busy for so long."""
    answers: list[Answer] = []

    async def scenario() -> None:
        served = Probes("films", lambda: status, Traffic(), asyncio.get_running_loop())
        request = Request(path, {}, {})
        asker = threading.Thread(target=lambda: answers.append(served.respond(request)))
        asker.start()
        if busy:
            time.sleep(busy)
        while asker.is_alive():
            await asyncio.sleep(0.01)

    asyncio.run(scenario())
    return answers[0]


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (EMPTY, 503, "aren't read yet"),
        (replace(EMPTY, queues=(replace(BUSY, knows=False),)), 503, "in thumbs"),
        (replace(EMPTY, queues=(BUSY,), carriers=(CARRIER,)), 503, "in published"),
        (replace(EMPTY, queues=(BUSY,)), 200, "ready"),
    ],
)
def test_it_is_ready_once_it_knows_what_runs_and_what_is_finished(
    status: Status, code: int, words: str
) -> None:
    answer = asked("/readyz", status)
    assert answer.status == code
    assert words in str(answer.body)
    assert asked("/healthz", status).status == 200, "who isn't ready lives all the same"


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_a_loop_that_does_not_turn_does_not_live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "PATIENCE", 0.2)
    assert asked("/healthz", EMPTY).status == 200
    assert asked("/healthz", EMPTY, busy=1.0).status >= 500
