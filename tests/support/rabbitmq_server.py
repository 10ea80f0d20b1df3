"""A real RabbitMQ with its management API (Debian: rabbitmq-server) in a folder."""

import json
import os
import signal
import subprocess
import time
import urllib.request
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from support.certificates import Certificates, certificates
from support.need import unavailable
from support.ports import free_port

PROGRAM = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
"""Not what PATH has, which insists on a user of its own."""
CONTROL = PROGRAM.with_name("rabbitmqctl")
CONFIGURATION = """\
listeners.tcp.default = {host}:{port}
management.tcp.ip = {host}
management.tcp.port = {management}
loopback_users = none
default_user = {user}
default_pass = {password}
collect_statistics_interval = 1000
listeners.ssl.default = {host}:{tls_port}
ssl_options.cacertfile = {files.authority}
ssl_options.certfile = {files.chain}
ssl_options.keyfile = {files.key}
ssl_options.verify = verify_none
"""

KEPT = 5.0
"""Seconds after which a quorum queue outlives the broker. Of one that was declared just before a power
failure RabbitMQ 3.10 knows the name and nothing else, and never answers who asks for a message.
"""


class RabbitServer:
    """`settings`: further lines of its configuration. `prefix`: what its command begins with, such as the way
    into a network namespace.
    """

    def __init__(
        self, folder: Path, *, host: str = "127.0.0.1", settings: str = "", prefix: Sequence[str] = ()
    ) -> None:
        self.host, self.port, self.management_port = host, free_port(), free_port()
        self.tls_port = free_port()
        self._prefix = prefix
        self.user, self.password = "worker", "a word/with@signs"
        self._folder = folder
        self._settings = settings
        self.files: Certificates | None = None
        self._epmd = free_port()
        self._distribution = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._declared = -KEPT

    @property
    def brokers(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        return f"amqp://{self.user}:a%20word%2Fwith%40signs@{self.brokers}/"

    @property
    def management(self) -> str:
        return f"http://{self.host}:{self.management_port}"

    def start(self) -> None:
        if not PROGRAM.exists():
            unavailable("rabbitmq-server (Debian: rabbitmq-server)")
        self._folder.mkdir(parents=True, exist_ok=True)
        self.files = self.files or certificates(self._folder, self.host)
        (self._folder / "rabbitmq.conf").write_text(
            CONFIGURATION.format(
                host=self.host,
                port=self.port,
                management=self.management_port,
                tls_port=self.tls_port,
                files=self.files,
                user=self.user,
                password=self.password,
            )
            + self._settings
        )
        # how often it looks at queues, and for what was held for too long
        ticks = "{quorum_tick_interval, 1000}, {channel_tick_interval, 500}"
        (self._folder / "advanced.config").write_text(f"[{{rabbit, [{ticks}]}}].\n")
        (self._folder / "enabled_plugins").write_text("[rabbitmq_management].\n")
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*self._prefix, str(PROGRAM)],
                env=self._environment(),
                cwd=self._folder,  # where it leaves a file when it is killed
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        until = time.monotonic() + 120
        while not self._answers():
            assert self._process.poll() is None, self._said()
            assert time.monotonic() < until, self._said()
            time.sleep(0.2)

    def kill(self) -> None:
        """As a power failure would, when its queues are kept."""
        time.sleep(max(0.0, self._declared + KEPT - time.monotonic()))
        self.end()

    def end(self) -> None:
        if self._process:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None
            environment = self._environment()
            epmd = [*self._prefix, "epmd", "-port", str(self._epmd), "-kill"]
            subprocess.run(epmd, env=environment, capture_output=True)

    def hang(self, seconds: float) -> None:
        """As on a machine that swaps."""
        assert self._process
        os.killpg(self._process.pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.killpg(self._process.pid, signal.SIGCONT)

    def evaluate(self, expression: str) -> None:
        """In Erlang, on the server."""
        command = [*self._prefix, str(CONTROL), "eval", expression]
        done = subprocess.run(command, env=self._environment(), capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    def ask(self, method: str, path: str, content: Any = None) -> Any:
        """Of the management API; `path` below `/api`, where `%2F` is the virtual host."""
        login = b64encode(f"{self.user}:{self.password}".encode()).decode()
        request = urllib.request.Request(
            f"{self.management}/api{path}",
            None if content is None else json.dumps(content).encode(),
            {"Authorization": f"Basic {login}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            body = answer.read()
        return json.loads(body) if body else None

    def declare(self, queue: str, kind: str = "quorum") -> None:
        self.ask("PUT", f"/queues/%2F/{queue}", {"durable": True, "arguments": {"x-queue-type": kind}})
        self._declared = time.monotonic()

    def put(self, queue: str, *bodies: str) -> None:
        for body in bodies:
            properties = {"delivery_mode": 2}
            message = {"routing_key": queue, "payload": body, "payload_encoding": "string"}
            sent = self.ask(
                "POST", "/exchanges/%2F/amq.default/publish", {**message, "properties": properties}
            )
            assert sent == {"routed": True}

    def get(self, queue: str, count: int = 1000) -> list[dict[str, Any]]:
        """Takes messages off the queue; of one that isn't there, none."""
        how = {"count": count, "ackmode": "ack_requeue_false", "encoding": "auto"}
        try:
            found: list[dict[str, Any]] = self.ask("POST", f"/queues/%2F/{queue}/get", how)
        except HTTPError as error:
            if error.code != 404:
                raise
            return []
        return found

    def disconnect(self) -> None:
        """Whoever is connected."""
        self.evaluate('rabbit_networking:close_all_connections("by an administrator").')

    def left(self, queue: str) -> int:
        """Messages that are ready or unacknowledged. It takes its time to know of a queue."""
        until = time.monotonic() + 30
        while "messages" not in (found := self.ask("GET", f"/queues/%2F/{queue}")):
            assert time.monotonic() < until, f"RabbitMQ counts nothing in {queue}"
            time.sleep(0.2)
        return int(found["messages"])

    def _environment(self) -> dict[str, str]:
        return os.environ | {
            "HOME": str(self._folder),
            "ERL_EPMD_PORT": str(self._epmd),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_RELAXED_COMMAND_CHECK": "1",
            "RABBITMQ_NODENAME": f"test{self.port}@localhost",
            "RABBITMQ_DIST_PORT": str(self._distribution),
            "RABBITMQ_CONFIG_FILE": str(self._folder / "rabbitmq.conf"),
            "RABBITMQ_ADVANCED_CONFIG_FILE": str(self._folder / "advanced.config"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self._folder / "enabled_plugins"),
            "RABBITMQ_MNESIA_BASE": str(self._folder / "data"),
            "RABBITMQ_LOG_BASE": str(self._folder / "logs"),
            "RABBITMQ_PID_FILE": str(self._folder / "pid"),
        }

    def _answers(self) -> bool:
        try:
            return bool(self.ask("GET", f"/health/checks/port-listener/{self.port}"))
        except OSError:
            return False

    def _said(self) -> str:
        return (self._folder / "log").read_text()[-2000:]


@contextmanager
def rabbitmq_server(folder: Path, **options: Any) -> Iterator[RabbitServer]:
    server = RabbitServer(folder, **options)
    try:
        server.start()
        yield server
    finally:
        server.end()
