"""The memory of ambassadors."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from support.ambassador import Ambassador
from wqc.language.measures import memory
from wqc.language.schema import SOURCE


def allowed(kind: str) -> int:
    """The default in bytes of a source's `memory`."""
    attributes = next(each.attributes for each in SOURCE.kinds if each.name == kind)
    default = memory(next(each.default for each in attributes if each.name == "memory"))
    assert default is not None
    return default.bytes


@contextmanager
def peak_of(served: Ambassador) -> Iterator[list[int]]:
    """The largest value is left in the list."""
    peak = [0]
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.002):
            peak[0] = max(peak[0], served.anonymous_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peak
    finally:
        over.set()
        watcher.join()
