"""Over random graphs, with workers that fail at each attempt or at the first ones, and with versions that
change: queues and carriers do exactly what the pure functions say.
"""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from support.localrun import managed, queue_files
from support.random_workflow import Work, both_rounds, planned
from wqc.runtime.manager.status import Status
from wqc.runtime.stores.store import QueueFiles

SECONDS = 60.0


@pytest.mark.parametrize("seed", range(8))
def test_books_balance(seed: int, tmp_path: Path) -> None:
    log, late = tmp_path / "log", tmp_path / "late"
    log.touch()
    late.touch()

    def made(work: Work) -> QueueFiles:
        script = (
            """id=$(sed 's/.*"id":\\([0-9]*\\).*/\\1/' "$WORK_ITEM_FILE")\n"""
            f"[ $((id % {work.modulus})) != {work.rest} ] || exit 1\n"
        )
        if falters := work.falters:
            script += (
                f"if [ $((id % {falters.modulus})) = {falters.rest} ]; then\n"
                f"  tries={tmp_path}/{work.queue}.$id; echo >> $tries\n"
                f"  if [ $(wc -l < $tries) -le {falters.times} ]; then\n"
                f"    echo {work.queue} >> {late}; exit 1\n"
                "  fi\n"
                "fi\n"
            )
        script += f'echo "{work.queue} $id" >> {log}\n'
        if work.adds is not None:
            script += f"""echo "{{\\"id\\":$((id + {work.adds}))}}" > "$WORK_RESULT_FILE\""""
        return queue_files(work.queue, script, work.lanes, at_once=3, **work.settings)

    plan = planned(seed, made)

    async def run() -> Status:
        sources = {"numbers": plan.numbers}
        async with managed(
            plan.workflow, tmp_path / "s", plan.files, sources, carriers=plan.carriers
        ) as manager:
            return await both_rounds(plan.numbers, lambda holds: manager.until(holds, SECONDS))

    status = asyncio.run(run())
    assert Counter(log.read_text().splitlines()) == plan.expected
    assert set(late.read_text().splitlines()) == plan.late
    assert Counter({queue.queue: queue.failed for queue in status.queues}) == plan.failed
    assert Counter({queue.queue: queue.held for queue in status.queues}) == plan.held
    assert {name: each.published for name, each in plan.carriers.items()} == plan.carried
