"""examples/pubsub_upload and pubsub_publish on a real node, joined by a topic of a Kafka that dies meanwhile.

The first one's carrier has a password and is an ambassador; the second one's manager reads the topic itself.
"""

import hashlib
import os
from pathlib import Path

from cluster.image import Image
from cluster.interpreter import ENVIRONMENT, interpreter_layer
from cluster.outside import HERE
from cluster.real_node import RealNode
from cluster.system import WORKER, System
from cluster.workers import shell_image
from support.kafka import PASSWORD, USER, kafka_server

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PERIODS = "listing=0.5 flush=1 backoff=1 refused_limit=2"
PHOTOS = 24


def test_every_photo_once_while_the_broker_restarts(runtime_node: RealNode, tmp_path: Path) -> None:
    shell_image(runtime_node, "docker.io/library/busybox:1.37.0", tmp_path / "busybox")
    name = "docker.io/library/python:3.13-alpine"
    runtime_node.load_image(Image([name], [interpreter_layer()], ["python3"], environment=ENVIRONMENT))
    uploads, site = tmp_path / "uploads", tmp_path / "site"
    guarded = tmp_path / "guarded.wq"
    credentials = 'username = "reader", auth = secret("kafka", "password"), tls = secret("kafka")'
    text = (EXAMPLES / "pubsub_upload.wq").read_text()
    guarded.write_text(text.replace('topic       = "photos"', f'topic = "photos", {credentials}'))
    for folder in ("upload", "publish"):
        (tmp_path / folder).mkdir()
    with (
        kafka_server(tmp_path / "kafka", HERE) as kafka,
        System(runtime_node, "pubsub_upload", tmp_path / "upload", {"uploads": uploads}) as upload,
        System(
            runtime_node, "pubsub_publish", tmp_path / "publish", {"uploads": uploads, "site": site}
        ) as publish,
    ):
        for number in range(PHOTOS):
            photo(uploads / f"{number % 3}" / f"photo {number}.jpg", number)
        secret = {"password": PASSWORD, "ca.crt": kafka.authority.read_text()}
        upload.create(
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "kafka"}, "stringData": secret}
        )
        here = ("--param", f"brokers={kafka.guarded}", "--param", "replicas=1")
        upload.apply(guarded, PERIODS, *here)
        publish.apply(EXAMPLES / "pubsub_publish.wq", PERIODS, "--param", f"brokers={kafka.brokers}")
        publish.wait("some are published", lambda: len(list(site.glob("*.jpg"))) > 3)
        kafka.kill()
        upload.wait("it is said that the broker is gone", lambda: "can't be reached" in said(upload))
        kafka.start()
        publish.wait_finished("published", PHOTOS)
        upload.wait_finished("described", PHOTOS)

        wanted = {hashlib.sha256(b"picture %d" % number).hexdigest() for number in range(PHOTOS)}
        assert {path.stem for path in site.iterdir()} == wanted
        assert kafka.topics()["photos"] == 3
        sent = [headers["wqc-item"] for headers, _ in kafka.messages("photos")]
        assert len(set(sent)) == PHOTOS
        assert publish.attempts("published") == dict.fromkeys(sent, 1)
        assert set(upload.recorded("photos").values()) == {1}
        publish.wait(
            "all messages are let go of",
            lambda: sum(kafka.committed("photos", "pubsub_publish.photos").values()) == len(sent),
        )
        assert USER in upload.kubectl("get", "configmap", "pubsub-upload-photos", "-o", "yaml")


def photo(path: Path, number: int) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"picture %d" % number)
    os.utime(path, (0, 0))  # complete for long
    os.chown(path, WORKER, WORKER)


def said(system: System) -> str:
    """What the carrier's manager reports."""
    return system.kubectl("get", "configmap", f"{system.object_name}-state", "-o", "jsonpath={.data.status}")
