"""examples/signup on a real node: all of the book's figure, with users who answer their mail."""

import json
import time
from collections import Counter
from pathlib import Path

from cluster.mail import load_mail_images
from cluster.outside import HERE, name_server
from cluster.real_node import NAME as NODE
from cluster.real_node import RealNode
from cluster.system import System
from support.kafka import kafka_server
from support.mailbox import Mailbox, mailbox
from support.receiver import receiver

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "signup.wq"
ZONE = "topology.kubernetes.io/zone"
USERS = [
    {"user_id": 1, "email": "ann@example.com", "notify_email": True, "notify_sms": False},
    {"user_id": 2, "email": "bob@example.com", "notify_email": False, "notify_sms": True},
    {"user_id": 3, "email": "cy@example.com", "notify_email": True, "notify_sms": True},
    {"user_id": 4, "email": "dora@example.com", "notify_email": False, "notify_sms": False},
    {"user_id": 5, "email": "eve@example.com", "notify_email": True, "notify_sms": True},
]
SILENT = "eve@example.com"
"""She never confirms."""


def received(inbox: Mailbox) -> Counter[tuple[str, str]]:
    return Counter((mail["Subject"], mail["To"]) for _, mail in inbox.mails)


def test_who_signs_up_and_confirms_is_welcomed_and_set_up(runtime_node: RealNode, tmp_path: Path) -> None:
    load_mail_images(runtime_node, tmp_path / "images")
    with (
        kafka_server(tmp_path / "kafka", HERE) as kafka,
        mailbox(HERE) as inbox,
        receiver(HERE) as settings,
        System(runtime_node, "signup", tmp_path, {}) as system,
    ):
        system.kubectl("label", "node", NODE, f"{ZONE}=here")
        for topic in ("signups", "confirmations"):
            kafka.create(topic, partitions=2)
        name_server(system, "kafka", 9092, kafka.port)
        name_server(system, "smtp", 25, inbox.port)
        name_server(system, "settings", 8080, settings.port)
        zones = [option for zone in "abc" for option in ("--param", f"zone_{zone}=here")]
        place = ("--param", f"ns={system.namespace}")
        system.apply(EXAMPLE, "listing=0.5 flush=1 backoff=1", *zones, *place)
        kafka.send("signups", [{key: user[key] for key in ("user_id", "email")} for user in USERS])
        system.wait("all are asked", lambda: len(received(inbox)) == len(USERS))
        assert received(inbox) == {("verify", user["email"]): 1 for user in USERS}

        confirmed = [user for user in USERS if user["email"] != SILENT]
        kafka.send("confirmations", confirmed)
        expected = Counter(
            {("verify", user["email"]): 1 for user in USERS}
            | {("welcome", user["email"]): 1 for user in confirmed}
            | {("email-on", user["email"]): 1 for user in confirmed if user["notify_email"]}
            | {("sms-on", user["email"]): 1 for user in confirmed if user["notify_sms"]}
        )
        system.wait("all mails are there", lambda: received(inbox).total() >= expected.total())
        system.wait_finished("verify", len(USERS))
        for queue, count in {"welcome": 4, "settings": 4, "email_on": 2, "sms_on": 2}.items():
            system.wait_finished(queue, count)
        time.sleep(2)  # for what should not come
        assert received(inbox) == expected
        stored = sorted(json.loads(each.body)["user_id"] for each in settings.posted)
        assert stored == [user["user_id"] for user in confirmed]
