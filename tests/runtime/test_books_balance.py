"""Over random graphs, with workers that fail: each queue does exactly what the pure functions say."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from support.localrun import queue_files, until_idle
from support.random_workflow import Work, planned
from wqc.patterns.item import Item
from wqc.runtime.stores.store import QueueFiles


@pytest.mark.parametrize("seed", range(8))
def test_books_balance(seed: int, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.touch()

    def made(work: Work) -> QueueFiles:
        script = (
            'id=$(cat "$WORK_ITEM_DIR/id")\n'
            f"[ $((id % {work.modulus})) != {work.rest} ] || exit 1\n"
            f'echo "{work.queue} $id" >> {log}'
        )
        return queue_files(work.queue, script, work.lanes, at_once=3, retries=1)

    numbers = {f"n{number}": {"id": number} for number in range(12)}
    plan = planned(seed, made, [Item(name, "", data) for name, data in numbers.items()])
    status = asyncio.run(until_idle(plan.workflow, tmp_path / "s", plan.files, {"numbers": numbers}))
    assert Counter(log.read_text().splitlines()) == plan.expected
    assert Counter({queue.queue: queue.failed for queue in status.queues}) == plan.dead
