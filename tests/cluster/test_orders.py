"""examples/orders on a real node: Kafka in front, a mail server and a text message service behind."""

from pathlib import Path
from urllib.parse import parse_qs

from cluster.outside import HERE, name_server
from cluster.real_node import RealNode
from cluster.system import System
from cluster.workers import shell_image
from support.kafka import kafka_server
from support.mailbox import mailbox
from support.receiver import receiver

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "orders.wq"


def order(number: int, state: str, *notify: str) -> dict[str, object]:
    name = f"A-{number}"
    phone = f"+1555{number:04}"
    return {
        "order": name,
        "state": state,
        "notify": notify,
        "email": f"{name.lower()}@example.com",
        "phone": phone,
    }


ORDERS = [
    order(1, "shipped", "email"),
    order(2, "shipped", "sms"),
    order(3, "shipped", "email", "sms"),
    order(4, "shipped"),
    order(5, "packed", "email", "sms"),
    order(6, "shipped", "email"),
]
GROUP = "orders.events"
MAILS, TEXTS = {1, 3, 6}, {2, 3}


def test_customers_hear_of_shipped_orders_as_they_chose(runtime_node: RealNode, tmp_path: Path) -> None:
    shell_image(runtime_node, "docker.io/curlimages/curl:8.11.1", tmp_path / "curl", "curl")
    with (
        kafka_server(tmp_path / "kafka", HERE) as kafka,
        mailbox(HERE) as inbox,
        receiver(HERE) as texts,
        System(runtime_node, "orders", tmp_path, {}) as system,
    ):
        kafka.create("orders", partitions=3)
        kafka.send("orders", ORDERS)
        name_server(system, "kafka", 9092, kafka.port)
        name_server(system, "mail", 25, inbox.port)
        name_server(system, "sms", 8080, texts.port)
        servers = ("--param", "smtp=smtp://mail:25", "--param", "sms=http://sms:8080/v1/messages")
        system.apply(EXAMPLE, "listing=0.5 flush=1 backoff=1", *servers)
        system.wait_finished("mails", len(MAILS))
        system.wait_finished("texts", len(TEXTS))

        mails = {mail["Subject"]: (to, mail) for to, mail in inbox.mails}
        assert mails.keys() == {f"Your order A-{number} is on its way" for number in MAILS}
        for number in MAILS:
            to, mail = mails[f"Your order A-{number} is on its way"]
            assert to == [f"a-{number}@example.com"]
            assert mail["Message-ID"]
            assert mail.get_content().strip() == f"We have handed your order A-{number} to the carrier."
        assert len(inbox.mails) == len(MAILS)
        assert len({mail["Message-ID"] for _, mail in inbox.mails}) == len(MAILS)

        assert {each.path for each in texts.posted} == {"/v1/messages"}
        forms = [parse_qs(each.body.decode()) for each in texts.posted]
        assert sorted(form["to"] for form in forms) == [[f"+1555{number:04}"] for number in sorted(TEXTS)]
        assert len({each.headers["idempotency-key"] for each in texts.posted}) == len(TEXTS) == len(forms)
        # what was dropped, by the filter or by the splitter, is let go of as well
        system.wait("all are let go of", lambda: kafka.committed("orders", GROUP) == {0: 2, 1: 2, 2: 2})
