"""How RabbitMQ is reached, and its client's errors in words."""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wqc.runtime.sources.causes import cause
from wqc.runtime.sources.options import Credential, Options
from wqc.runtime.sources.source import SourceError

if TYPE_CHECKING:
    from aio_pika.abc import AbstractConnection
    from yarl import URL

HEARTBEAT = 20
"""Seconds without a sign of life after which either side gives up, unless the address says otherwise."""
# what they log they raise as well, and whoever calls them says it once
for _client in ("aio_pika", "aiormq"):
    logging.getLogger(_client).setLevel(logging.CRITICAL)

CLOSING = 2.0
"""Seconds that a connection may take to be closed."""


@dataclass(frozen=True, slots=True)
class Connection:
    """`url` has the credentials in it. `authority` signs the broker's certificate; without one, those that
    this machine trusts do.
    """

    brokers: str
    url: Credential | None
    tls: bool
    authority: Credential | None

    async def open(self, name: str, timeout: float) -> "AbstractConnection":
        """`name` is what people see there. Raises what `told` knows."""
        import aio_pika

        url = self.address()
        if "heartbeat" not in url.query:
            url = url.update_query(heartbeat=HEARTBEAT)
        context = None
        if url.scheme == "amqps":
            context = ssl.create_default_context(cadata=self.authority() if self.authority else None)
        return await aio_pika.connect(
            url, ssl_context=context, timeout=timeout, client_properties={"connection_name": name}
        )

    @property
    def place(self) -> str:
        """In messages: without credentials. Raises SourceError."""
        url = self.address()
        host = url.path.strip("/")
        return f"{url.host}:{url.port}" + (f", virtual host {host}" if host else "")

    @asynccontextmanager
    async def asked(self, queue: str, timeout: float) -> AsyncIterator[None]:
        """What is asked of the broker, within that time: not every call of the client has a limit of its own.
        Raises SourceError.
        """
        with self.told(queue):
            async with asyncio.timeout(timeout):
                yield

    @contextmanager
    def told(self, queue: str) -> Iterator[None]:
        """What the client raises as a SourceError, for people."""
        from aio_pika import exceptions as amqp
        from aiormq import exceptions as aiormq

        try:
            yield
        except (amqp.ProbableAuthenticationError, aiormq.AuthenticationError):
            raise self._error("refuses the user or the password") from None
        except aiormq.ConnectionNotAllowed as error:
            raise self._error(f"doesn't let the user in: {cause(error)}") from None
        except amqp.ChannelNotFoundEntity:
            raise self._error(f"has no queue {queue}") from None
        except aiormq.ChannelAccessRefused as error:
            raise self._error(f"doesn't allow it: {cause(error)}") from None
        except aiormq.ChannelLockedResource:
            raise self._error(f"lets nobody else use the queue {queue}: it is exclusive") from None
        except aiormq.InvalidFrameError as error:
            if "Connection.OpenOk" not in str(error):
                raise self._error(f"can't be reached: {cause(error)}") from None
            raise self._error("doesn't let the user into the virtual host") from None
        except TimeoutError:
            raise self._error("gives no answer") from None
        except amqp.ChannelInvalidStateError:  # its text is what was asked
            raise self._error("can't be reached: the connection was lost") from None
        except (amqp.AMQPError, OSError) as error:
            raise self._error(f"can't be reached: {cause(error)}") from None
        except RuntimeError:  # of a call on a connection that has just been lost
            raise self._error("can't be reached: the connection was lost") from None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # so the client ends what waits for an answer on a connection without a sign of life
            raise self._error("can't be reached: the connection was lost") from None

    def address(self) -> "URL":
        """With the credentials. Raises SourceError."""
        from yarl import URL

        try:
            url = URL(self.url() if self.url else f"amqp://guest:guest@{self.brokers}/")
            port = url.explicit_port
        except ValueError:
            url, port = URL(), None
        if url.scheme not in ("amqp", "amqps") or not url.host:
            raise SourceError("`auth` isn't an address such as amqp://user:password@host:5672/")
        if self.tls:
            url = url.with_scheme("amqps")
        return url.with_port(port or (5671 if url.scheme == "amqps" else 5672))

    def _error(self, why: str) -> SourceError:
        return SourceError(f"RabbitMQ at {self.place} {why}")


async def hang_up(connection: "AbstractConnection") -> None:
    """Returns soon, whatever is the matter with it; it isn't used any more."""

    async def close() -> None:
        with suppress(Exception):
            await connection.close()

    # not cancelled if it takes longer: the client would wait for an end that doesn't come
    await asyncio.wait({asyncio.create_task(close())}, timeout=CLOSING)


def connection(options: Options) -> Connection:
    """Raises SourceError for options that can't be."""
    tls = options.value("tls", False)
    return Connection(
        options.text("brokers"),
        options.secret("auth"),
        tls is not False,
        None if isinstance(tls, bool) else options.secret("tls"),
    )
