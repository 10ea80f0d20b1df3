"""A connection to a Redis server, and its troubles in words."""

from collections.abc import Iterator
from contextlib import contextmanager

from redis.asyncio import Redis
from redis.exceptions import (
    AuthenticationError,
    AuthenticationWrongNumberOfArgsError,
    NoPermissionError,
    RedisError,
)
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import TimeoutError as NoAnswer

from wqc.runtime.sources.options import Options
from wqc.runtime.sources.source import SourceError


def connect(options: Options, timeout: float) -> Redis:
    """Connects when it is first asked, and anew after each trouble. `timeout`: seconds for an answer."""
    host, _, port = options.text("brokers").rpartition(":")
    password = options.secret("auth")
    return Redis(
        host=host,
        port=int(port),
        username=options.value("username"),
        password=password() if password else None,
        ssl=bool(options.value("tls", False)),
        socket_timeout=timeout,
        socket_connect_timeout=timeout,
    )


@contextmanager
def told() -> Iterator[None]:
    """What the client raises as a SourceError."""
    try:
        yield
    except (AuthenticationError, AuthenticationWrongNumberOfArgsError, NoPermissionError) as error:
        raise SourceError(f"the Redis server refuses: {error}") from None
    except NoAnswer:
        raise SourceError("the Redis server gives no answer") from None
    except NoConnection as error:
        raise SourceError(f"the Redis server can't be reached: {error}") from None
    except RedisError as error:
        raise SourceError(f"the Redis server can't do that: {error}") from None
