"""How a Kafka cluster is reached, and its client's errors in words."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from wqc.runtime.sources.options import Credential, Options
from wqc.runtime.sources.source import SourceError

MECHANISMS = ("scram_sha_512", "scram_sha_256", "plain")
"""The first is the usual one."""
RECONNECT = 2000
"""Milliseconds between two attempts to connect, at most."""

Config = dict[str, Any]
"""librdkafka's, see its CONFIGURATION.md."""


@dataclass(frozen=True, slots=True)
class Connection:
    """`authority` signs the brokers' certificates; without one, those that this machine trusts do."""

    brokers: str
    username: str
    password: Credential | None
    mechanism: str
    tls: bool
    authority: Credential | None

    def config(self) -> Config:
        """With the credentials as they are now. Raises SourceError."""
        config: Config = {
            "bootstrap.servers": self.brokers,
            "client.id": "wqc",
            "security.protocol": f"{'SASL_' if self.password else ''}{'SSL' if self.tls else 'PLAINTEXT'}",
            "reconnect.backoff.max.ms": RECONNECT,
            # what it would say there it says to `error_cb` too
            "log_level": 0,
            # a topic's partitions may change: looked at again and again
            "topic.metadata.refresh.interval.ms": 30_000,
        }
        if self.password:
            if not (password := self.password()):
                raise SourceError(f"the password of the user {self.username} for {self.brokers} is empty")
            config["sasl.mechanism"] = self.mechanism.upper().replace("_", "-")
            config["sasl.username"] = self.username
            config["sasl.password"] = password
        if self.authority:
            config["ssl.ca.pem"] = self.authority()
        return config

    @contextmanager
    def opening(self) -> Iterator[None]:
        """What a client refuses of its configuration, such as a certificate, as a SourceError."""
        try:
            yield
        except KafkaException as error:
            raise SourceError(self.words(error.args[0])) from None

    def words(self, error: KafkaError) -> str:
        """What is wrong, for people."""
        match error.code():
            case KafkaError._AUTHENTICATION | KafkaError.SASL_AUTHENTICATION_FAILED:
                return f"{self.brokers} refuses the user {self.username or 'without a name'} or the password"
            case KafkaError._SSL:
                return f"{self.brokers}: TLS fails: {_end(error.str())}"
            case KafkaError._RESOLVE:
                return f"{self.brokers}: the name can't be resolved"
            case KafkaError._TRANSPORT | KafkaError._ALL_BROKERS_DOWN | KafkaError._TIMED_OUT:
                return f"{self.brokers} can't be reached: {_end(error.str())}"
            case KafkaError.UNKNOWN_TOPIC_OR_PART | KafkaError._UNKNOWN_TOPIC:
                return f"{self.brokers} has no such topic"
            case _:
                return f"{self.brokers}: {_end(error.str())}"


def connection(options: Options) -> Connection:
    """Raises SourceError for options that can't be."""
    authority = options.value("tls", False)
    password = options.secret("auth")
    username = options.text("username", "")
    if password and not username:
        raise SourceError(f"{options.name}: `auth` needs a `username`")
    return Connection(
        options.text("brokers"),
        username,
        password,
        options.word("sasl", MECHANISMS),
        authority is not False,
        None if isinstance(authority, bool) else options.secret("tls"),
    )


class Errors:
    """What a client's `error_cb` was told last: requests that time out don't say why they do."""

    def __init__(self) -> None:
        self.last: KafkaError | None = None

    def note(self, error: KafkaError) -> None:
        # that all brokers are down follows what says why
        if error.code() != KafkaError._ALL_BROKERS_DOWN or self.last is None:
            self.last = error

    @property
    def is_certain(self) -> bool:
        """Waiting longer won't help."""
        certain = (KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED, KafkaError._SSL)
        return self.last is not None and self.last.code() in certain


def awaited(future: Any, serve: Callable[[float], object], errors: Errors, seconds: float) -> Any:
    """What a client's request comes to; `serve` runs its callbacks for that long. Raises KafkaException."""
    until = time.monotonic() + seconds
    while not future.done():
        serve(0.05)
        if errors.is_certain or time.monotonic() > until:
            raise KafkaException(errors.last or KafkaError(KafkaError._TIMED_OUT))
    return future.result()


def _end(text: str) -> str:
    """Without what stands before the last colon-space: names of threads and addresses, again."""
    return text.split(" (after")[0].rpartition("failed: ")[2].rpartition("Local: ")[2].rstrip(".")
