"""What a manager asked of the API server, and how old its view of the cluster is: for metrics."""

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}

Call = tuple[str, str, str]
"""Verb and resource, as a Role names them; the answer's HTTP status, "0" where there was none."""


class Traffic:
    """Threads may call it at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: Counter[Call] = Counter()
        self._heard: dict[str, float] = {}

    def asked(self, method: str, path: str, query: Mapping[str, str], status: int) -> None:
        resource, name = _resource(path)
        verb = _VERBS.get(method) or ("watch" if "watch" in query else "get" if name else "list")
        with self._lock:
            self._calls[verb, resource, str(status)] += 1

    def heard(self, path: str) -> None:
        """A listing, an event or a bookmark came: what is known of these objects is of now."""
        with self._lock:
            self._heard[_resource(path)[0]] = time.monotonic()

    def calls(self) -> Iterator[tuple[Call, int]]:
        with self._lock:
            yield from sorted(self._calls.items())

    def ages(self) -> Iterator[tuple[str, float]]:
        """By resource, the seconds since something was heard of it."""
        now = time.monotonic()
        with self._lock:
            yield from ((resource, now - at) for resource, at in sorted(self._heard.items()))


def _resource(path: str) -> tuple[str, str]:
    """`…/namespaces/NS/RESOURCE[/NAME…]`"""
    resource, _, name = path.partition("/namespaces/")[2].partition("/")[2].partition("/")
    return resource, name
