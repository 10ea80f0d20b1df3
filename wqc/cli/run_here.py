"""A workflow at work on this machine, watched until nothing is left of it or somebody stops it."""

import asyncio
import shlex
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from wqc.cli.ending import Status, Trouble
from wqc.cli.livetable import failed, failures, held, left, left_out
from wqc.cli.locally import Local
from wqc.cli.running import Folder, log_tails
from wqc.cli.screen import Screen
from wqc.runtime.manager.manager import Manager
from wqc.runtime.manager.status import STATUS, encode_report
from wqc.runtime.manager.status import Status as Workflow
from wqc.runtime.periods import Periods
from wqc.runtime.stores.local.soundness import damages, unread
from wqc.runtime.stores.local.state import LocalStateStore
from wqc.runtime.stores.local.store import InUse, LocalStore
from wqc.runtime.stores.state import Conflict
from wqc.runtime.stores.store import Refused

REFRESH = 0.5
"""Seconds."""
STOPS = {
    signal.SIGINT: Status.INTERRUPTED,
    signal.SIGTERM: Status.TERMINATED,
    signal.SIGHUP: Status.HUNG_UP,
}


async def run_here(local: Local, state: Path, periods: Periods, until_empty: bool) -> Status:
    """Raises Trouble."""
    try:
        state.mkdir(parents=True, exist_ok=True)
        store = LocalStore(state, local.files, local.stand_ins)
        found = await damages(state)
        gone = [] if found else unread(state, local.remembered)
    except InUse as error:
        raise Trouble(f"{error}; stop the wqc run that does, or give this one a --state of its own") from None
    except OSError as error:
        raise Trouble(f"cannot keep its state in {state}: {error.strerror}") from None
    if found:
        others = len(found) - 1
        more = f"; {others} more {'is' if others == 1 else 'are'} damaged" if others else ""
        raise Trouble(f"{found[0]}{more}")
    for queue in gone:
        print(
            f"{queue}: no queue has this name any more, and nobody reads what is on record of it in {state}: "
            f'formerly = "{queue}" leaves it to the queue that it became, and '
            f'retired = ["{queue}"] of the workflow gives it up',
            file=sys.stderr,
        )
    screen = Screen(sys.stdout)
    manager = Manager(local.workflow, store, LocalStateStore(state), local.sources, periods, local.carriers)
    running = asyncio.create_task(manager.run())
    stop = _Stop(running, store)
    try:
        while not (stop.asked or (until_empty and _is_over(manager.status()))):
            await asyncio.wait((running,), timeout=REFRESH)
            if running.done() and not stop.asked:
                running.result()
            screen.show(manager.status())
        if stop.asked:
            # not before the table is drawn for the last time: that would wipe it out
            print("stopping as soon as the workers have ended; once more ends them at once", file=sys.stderr)
            return STOPS[stop.asked]
        screen.show(manager.status(), last=True)
        status = manager.status()
        found = [*await _failed(status, state), *left_out(status), *left(status)]
        for line in found:
            print(line, file=sys.stderr)
        return Status.FINDINGS if found or status.stalled else Status.CLEAN
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        if stop.asked and all(each.knows for each in manager.status().queues):
            await _report_stopped(manager.status(), LocalStateStore(state))
        await store.close()
        for source in local.sources.values():
            await source.close()
        for carrier in local.carriers.values():
            await carrier.close()
        if stop.asked:
            status = manager.status()
            if failed(status):
                shown = f"wqc status --state {shlex.quote(str(state.parent))}"
                print(f"failed items are held: {held(status)}; `{shown}` shows them", file=sys.stderr)
            print("stopped; the next run goes on from here", file=sys.stderr)


async def _report_stopped(status: Workflow, store: LocalStateStore) -> None:
    """What the manager said last counts those as running that are about to be ended."""
    queues = (
        replace(each, waiting=each.waiting + each.running, running=0, rate=0.0) for each in status.queues
    )
    with suppress(Refused, Conflict):
        await store.write({STATUS: encode_report(replace(status, queues=tuple(queues)))})


async def _failed(status: Workflow, state: Path) -> list[str]:
    """What failed and is held, and what can be done about it."""
    names = list(dict.fromkeys(who for who, _ in failed(status)))
    if not names:
        return []
    name = names[0] if len(names) == 1 else "QUEUE"
    asked = f"{name} --state {shlex.quote(str(state.parent))}"
    return [
        *failures(status, await log_tails(Folder(state.parent), state.name, status)),
        f"`wqc retry {asked}` has the next run try it again, `wqc discard {asked}` gives it up",
    ]


def _is_over(status: Workflow) -> bool:
    return status.idle or status.stalled


class _Stop:
    """The first signal lets the workers end, the second one ends them."""

    def __init__(self, running: asyncio.Task[None], store: LocalStore) -> None:
        self.asked: signal.Signals | None = None
        self._running = running
        self._store = store
        for number in STOPS:
            asyncio.get_running_loop().add_signal_handler(number, self._stop, number)

    def _stop(self, number: signal.Signals) -> None:
        if self.asked:
            self._store.end_at_once()
            return
        self.asked = number
        self._running.cancel()
