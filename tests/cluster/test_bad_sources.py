"""Sources that misbehave, each before a queue of its own: status and an Event say which, why, and what waits
for it; the others' items are worked on, and its own once it is well.
"""

import json
import re
import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from cluster.client import Client
from cluster.managed import Managed
from runtime.test_bad_sources import NAMES, Service
from support.badserver import Behaviour, http, server
from support.ports import free_port

TWICE = json.dumps({"kind": "ItemList", "apiVersion": "v1", "items": ["a", "a"]})
DOWN = {
    "html": ("html", r"doesn't answer with JSON, but with '<html>sign in</html>'"),
    "error": ("500", r"answers 500: the table is locked"),
    "hang": ("hang", r"gave no complete answer within 1 s"),
    "mute": ("empty", r"it closed the connection without a word"),
}
"""By source: how its service is ill, and what is said of it."""


def text(names: list[str]) -> str:
    parts = ['worker plain { image = "example.com/plain:1", command = ["work"] }']
    parts += ['source names: items { items = ["x", "y"] }', "queue fine { from = names, worker = plain }"]
    for name in names:
        parts.append(f'source {name}: container {{ image = "example.com/{name}:1" }}')
        parts.append(f"queue of_{name} {{ from = {name}, worker = plain }}")
    return "\n".join(parts)


def twice(request: str, connection: socket.socket) -> None:
    """It lists an item two times."""
    item = json.dumps({"kind": "Item", "apiVersion": "v1", "data": 1})
    connection.sendall(http(200, TWICE if request.split()[1].endswith("/items") else item))


def test_each_is_named_and_keeps_no_other_from_working(simulated_cluster: Client, tmp_path: Path) -> None:
    services = {name: Service(ill) for name, (ill, _) in DOWN.items()} | {"gone": Service("item 404")}
    for service in services.values():
        service.bad.set()
    behaviours: dict[str, Behaviour] = {**services, "twice": twice}
    periods = "announce=1 report=0.3 request=1"
    names = [*behaviours, "nobody"]
    with (
        ExitStack() as servers,
        Managed(simulated_cluster, "ill", "bad-sources", tmp_path, text(names), periods) as workflow,
    ):
        urls = {name: servers.enter_context(server(each)) for name, each in behaviours.items()}
        urls["nobody"] = f"http://127.0.0.1:{free_port()}"
        program = tmp_path / "manager.py"
        program.write_text(
            re.sub(
                r'source\("(\w+)", url="[^"]*"',
                lambda found: f'source("{found[1]}", url="{urls[found[1]]}"',
                program.read_text(),
            )
        )

        def problem(source: str) -> str:
            sources = json.loads(workflow.state().get("status", '{"status": {"sources": []}}'))["status"]
            return next((each["problem"] for each in sources["sources"] if each["source"] == source), "")

        def told(node: str, reason: str, wanted: str) -> bool:
            return any(why == reason and re.search(wanted, said) for why, said in workflow.events(node))

        def until(source: str, wanted: str, said: Callable[[], str], node: str, reason: str) -> None:
            workflow.until(f"{source} is said to be ill", lambda: re.search(wanted, said()))
            workflow.until(f"an Event says so of {source}", lambda: told(node, reason, wanted))

        workflow.start()
        workflow.until("the good source's items are done", lambda: workflow.is_done("fine", "xy"))
        for name, why in {**{name: why for name, (_, why) in DOWN.items()}, "nobody": "refused"}.items():
            wanted = f"{why}.*; nothing new of it comes to of_{name}$"
            until(name, wanted, lambda name=name: problem(name), "manager", "SourceFails")
        wanted = "^a: it is listed more than once, which counts once"
        until("twice", wanted[1:], lambda: problem("twice"), "manager", "SourceFails")
        workflow.until("what is listed twice is done", lambda: workflow.is_done("of_twice", "a"))
        wanted = r"(a|b/c|d ☃): .* answers 404: it isn't there; 2 more items can't be started$"
        until("gone", wanted, lambda: workflow.blocked("of_gone"), "of-gone", "Blocked")

        for service in services.values():
            service.bad.clear()
        for name in services:
            workflow.until(f"{name} is done", lambda name=name: workflow.is_done(f"of_{name}", NAMES))
            workflow.until(f"{name} is well", lambda name=name: not problem(name))
            assert workflow.attempts(f"of_{name}") == dict.fromkeys(NAMES, 1)
        assert workflow.attempts("of_twice") == {"a": 1}
