"""The servers that a session of the documentation may name, as they are once somebody has installed them."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from cluster.interpreter import PACKAGES
from cluster.vision import PORTRAIT, vision_layer
from support.kafka import kafka_server
from support.need import unavailable
from support.rabbitmq_server import RabbitServer
from support.redis_server import redis_server
from support.s3 import ACCESS_KEY, SECRET_KEY, s3_server


@dataclass(frozen=True)
class Started:
    ports: Mapping[int, int] = field(default_factory=dict)
    """The one that it usually has: the one that it has."""
    environment: Mapping[str, str] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    """For the session's folder."""


@contextmanager
def _redis(folder: Path) -> Iterator[Started]:
    _command("redis-cli", "redis-tools")
    with redis_server(folder / "redis", password="") as server:
        yield Started({6379: server.port})


@contextmanager
def _rabbitmq(folder: Path) -> Iterator[Started]:
    server = RabbitServer(folder / "rabbitmq")
    server.user = server.password = "guest"
    try:
        server.start()
        yield Started({5672: server.port, 15672: server.management_port})
    finally:
        server.kill()


@contextmanager
def _kafka(folder: Path) -> Iterator[Started]:
    with kafka_server(folder / "kafka") as server:
        yield Started({9092: server.port})


@contextmanager
def _kcat(folder: Path) -> Iterator[Started]:
    _command("kcat", "kcat")
    yield Started()


@contextmanager
def _s3(folder: Path) -> Iterator[Started]:
    """rclone knows the server as `s3:`; $ACCESS_KEY and $SECRET_KEY open it."""
    _command("rclone", "rclone")
    (folder / "s3").mkdir()
    with s3_server(folder / "s3", folder / "s3.log") as server:
        options = {
            "TYPE": "s3",
            "PROVIDER": "Other",
            "ENDPOINT": server.endpoint,
            "ACCESS_KEY_ID": ACCESS_KEY,
            "SECRET_ACCESS_KEY": SECRET_KEY,
        }
        keys = {"ACCESS_KEY": ACCESS_KEY, "SECRET_KEY": SECRET_KEY}
        remote = {f"RCLONE_CONFIG_S3_{name}": value for name, value in options.items()}
        here = keys | remote | {"RCLONE_CONFIG": os.devnull}
        yield Started({9000: int(server.endpoint.rpartition(":")[2])}, here)


@contextmanager
def _vision(folder: Path) -> Iterator[Started]:
    """OpenCV for this Python, and a portrait."""
    layer = vision_layer()
    yield Started(environment={"PYTHONPATH": str(layer / PACKAGES)}, files=(layer / PORTRAIT,))


def _command(name: str, package: str) -> None:
    if not shutil.which(name):
        unavailable(f"there is no {name}: Debian has it in {package}")


SERVERS: Mapping[str, Callable[[Path], AbstractContextManager[Started]]] = {
    "redis": _redis,
    "rabbitmq": _rabbitmq,
    "kafka": _kafka,
    "kcat": _kcat,
    "s3": _s3,
    "vision": _vision,
}
