"""As many failed items as there may be, and a person who wants all of them tried again."""

import time
from pathlib import Path

from wqc.contract.limits import CONFIG_MAP_BYTES, MOST_FAILED
from wqc.contract.names import item_hash
from wqc.runtime.manager.requests import Request, encode_request
from wqc.runtime.queue.book import Book
from wqc.runtime.queue.held import Held
from wqc.runtime.queue.ledger import Ledger
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.local.store import LocalStore

NAMES = [f"{number:063}" for number in range(MOST_FAILED)]


def test_their_jobs_fit_into_the_workflow_s_state() -> None:
    request = encode_request(Request("work", "retry", jobs=tuple(NAMES)))
    assert len(request) < 0.7 * CONFIG_MAP_BYTES


def test_nothing_else_waits_for_long(tmp_path: Path) -> None:
    """What is asked about them is looked at again and again."""
    book = Book()
    for name in NAMES:
        job = Job(name, "work", "", name, "", 0, 1, 0, "1", 0.0, phase="failed")
        book.move(book.note(item_hash(name, ""), job), "dead")
    ledger = Ledger("work", "w", LocalStore(tmp_path, {}), 30.0)
    held = Held(book, ledger, lambda attempts: None, lambda: None)
    began = time.monotonic()
    jobs, _ = held.find(None)
    assert held.find(NAMES)[0] == jobs
    assert held.retry("request", jobs) == 0
    assert held.discard(jobs) == MOST_FAILED
    assert time.monotonic() - began < 1.0
