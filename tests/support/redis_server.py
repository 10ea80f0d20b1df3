"""A real Redis server with a folder of its own, which a test can stop, kill and start again."""

import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis

from support.certificates import Certificates, certificates
from support.need import unavailable
from support.ports import free_port

PASSWORD = "a pass/word with + and #"


@dataclass
class RedisServer:
    """`persistent`: it has its data after a restart. `prefix`: what its command begins with, such as the way
    into a network namespace.
    """

    folder: Path
    host: str
    port: int
    tls_port: int
    files: Certificates
    persistent: bool
    prefix: Sequence[str]
    password: str
    process: "subprocess.Popen[bytes] | None" = field(default=None)

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def tls_address(self) -> str:
        return f"{self.host}:{self.tls_port}"

    @property
    def client(self) -> Any:
        """For what people and programs beside wqc do."""
        return redis.Redis(
            self.host, self.port, password=self.password or None, socket_timeout=20, protocol=2
        )

    def start(self) -> None:
        options = {
            "bind": self.host,
            "port": self.port,
            "tls-port": self.tls_port,
            "tls-cert-file": self.files.chain,
            "tls-key-file": self.files.key,
            "tls-ca-cert-file": self.files.authority,
            "tls-auth-clients": "no",
            "requirepass": self.password,
            "protected-mode": "yes" if self.password else "no",
            "dir": self.folder,
            "save": "",
            "appendonly": "yes" if self.persistent else "no",
            "appendfsync": "always" if self.persistent else "no",
        }
        command = [*self.prefix, "redis-server"]
        for option, value in options.items():
            command += [f"--{option}", str(value)]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        until = time.monotonic() + 30
        while not self._answers():
            assert self.process.poll() is None, self.tail()
            assert time.monotonic() < until, self.tail()
            time.sleep(0.05)

    def stop(self) -> None:
        """As an administrator does."""
        if self.process:
            self.process.terminate()
            self.process.wait(30)
            self.process = None

    def kill(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def push(self, key: str, values: Iterable[str | bytes]) -> None:
        """At the right end of a list."""
        pipeline = self.client.pipeline(transaction=False)
        for value in values:
            pipeline.rpush(key, value)
        pipeline.execute()

    def add(self, key: str, entries: Iterable[dict[str, Any]]) -> list[str]:
        """To a stream; the entries' ids."""
        pipeline = self.client.pipeline(transaction=False)
        for entry in entries:
            pipeline.xadd(key, entry)
        return [name.decode() for name in pipeline.execute()]

    def tail(self) -> str:
        return (self.folder / "log").read_text(errors="replace")[-3000:]

    def _answers(self) -> bool:
        try:
            return bool(self.client.ping())
        except redis.RedisError:
            return False


@contextmanager
def redis_server(
    folder: Path,
    persistent: bool = True,
    host: str = "127.0.0.1",
    prefix: Sequence[str] = (),
    password: str = PASSWORD,
) -> Iterator[RedisServer]:
    """Started. Skips where there is none. Without a password everybody may do everything."""
    if shutil.which("redis-server") is None:
        unavailable("there is no redis-server: apt-get install redis-server")
    folder.mkdir(parents=True, exist_ok=True)
    files = certificates(folder, host)
    server = RedisServer(folder, host, free_port(), free_port(), files, persistent, prefix, password)
    try:
        server.start()
        yield server
    finally:
        server.kill()
