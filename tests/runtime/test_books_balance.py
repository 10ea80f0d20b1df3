"""Over random graphs, with workers that fail: queues and carriers do exactly what the pure functions say."""

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
            """id=$(sed 's/.*"id":\\([0-9]*\\).*/\\1/' "$WORK_ITEM_FILE")\n"""
            f"[ $((id % {work.modulus})) != {work.rest} ] || exit 1\n"
            f'echo "{work.queue} $id" >> {log}\n'
        )
        if work.adds is None:
            return queue_files(work.queue, script, work.lanes, at_once=3, retries=1)
        script += f"""echo "{{\\"id\\":$((id + {work.adds}))}}" > "$WORK_RESULT_FILE\""""
        return queue_files(work.queue, script, work.lanes, at_once=3, retries=1, result="required")

    numbers = {f"n{number}": {"id": number} for number in range(12)}
    plan = planned(seed, made, [Item(name, "", data) for name, data in numbers.items()])
    sources = {"numbers": numbers}
    run = until_idle(plan.workflow, tmp_path / "s", plan.files, sources, carriers=plan.carriers)
    status = asyncio.run(run)
    assert Counter(log.read_text().splitlines()) == plan.expected
    assert Counter({queue.queue: queue.failed for queue in status.queues}) == plan.failed
    assert Counter({queue.queue: queue.held for queue in status.queues}) == plan.held
    assert {name: each.published for name, each in plan.carriers.items()} == plan.carried
