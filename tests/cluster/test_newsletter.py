"""examples/newsletter on a real node: sign-ups from a Redis stream, filtered in the manager."""

import json
from pathlib import Path

from cluster.outside import HERE, name_server
from cluster.real_node import RealNode
from cluster.system import System
from cluster.workers import shell_image
from support.receiver import receiver
from support.redis_server import redis_server

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "newsletter.wq"
SIGN_UPS = [
    {"user_id": "1", "email": '"ann@example.com"', "opted_in": "true"},
    {"user_id": "2", "email": '"bob@example.com"', "opted_in": "false"},
    {"user_id": "3", "email": '"cy@example.com"', "opted_in": "true"},
    {"user_id": "4", "email": '"dora@example.com"'},
]
"""A field of an entry is JSON."""
WILLING = ["ann@example.com", "cy@example.com"]


def test_exactly_those_who_opted_in_are_subscribed(runtime_node: RealNode, tmp_path: Path) -> None:
    shell_image(runtime_node, "docker.io/curlimages/curl:8.11.1", tmp_path / "curl", "curl")
    with (
        redis_server(tmp_path / "redis", host=HERE, password="") as redis,
        receiver(HERE) as lists,
        System(runtime_node, "newsletter", tmp_path, {}) as system,
    ):
        redis.add("signups", SIGN_UPS)
        name_server(system, "redis", 6379, redis.port)
        name_server(system, "lists", 8080, lists.port)
        system.apply(EXAMPLE, "listing=0.5 flush=1 backoff=1")
        system.wait_finished("subscribed", len(WILLING))
        assert {each.path for each in lists.posted} == {"/newsletter/subscribers"}
        assert sorted(json.loads(each.body)["email"] for each in lists.posted) == WILLING
        group = "newsletter.signups"
        system.wait("nothing is held", lambda: redis.client.xpending("signups", group)["pending"] == 0)
