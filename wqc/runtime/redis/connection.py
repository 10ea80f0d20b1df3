"""How a Redis server is reached, and its client's errors in words."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from wqc.runtime.sources.causes import cause
from wqc.runtime.sources.options import Credential, Options
from wqc.runtime.sources.source import SourceError


@dataclass(frozen=True, slots=True)
class Connection:
    """`authority` signs the server's certificate; without one, those that this machine trusts do."""

    address: str
    username: str
    password: Credential | None
    tls: bool
    authority: Credential | None

    def client(self, timeout: float) -> Any:
        """A redis.asyncio.Redis: its types leave open what a command answers.

        Connects when it is asked something, with the credentials as they are then. `timeout`: seconds for an
        answer. Raises SourceError.
        """
        from redis.asyncio import Connection as Plain
        from redis.asyncio import Redis, SSLConnection
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff
        from redis.credentials import CredentialProvider

        from wqc.runtime.redis.pool import Pool

        class Credentials(CredentialProvider):
            def get_credentials(provider) -> tuple[str] | tuple[str, str]:  # noqa: N805  # self is the connection
                assert self.password
                return (self.username, self.password()) if self.username else (self.password(),)

            async def get_credentials_async(provider) -> tuple[str] | tuple[str, str]:  # noqa: N805
                return provider.get_credentials()

        host, _, port = self.address.rpartition(":")
        trusted: dict[str, Any] = {"ssl_ca_data": self.authority()} if self.tls and self.authority else {}
        pool = Pool(
            SSLConnection if self.tls else Plain,
            host=host.strip("[]"),
            port=int(port),
            credential_provider=Credentials() if self.password else None,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            # once more, at once: a connection may be lost, and all commands here may be repeated
            retry=Retry(NoBackoff(), 1),
            protocol=2,
            **trusted,
        )
        return Redis.from_pool(pool)

    @contextmanager
    def told(self) -> Iterator[None]:
        """What the client raises as a SourceError, for people."""
        from redis import exceptions as redis

        try:
            yield
        except (redis.AuthenticationError, redis.AuthenticationWrongNumberOfArgsError):
            user = f"the user {self.username}" if self.username else "the default user"
            why = f"refuses {user} or the password" if self.password else "wants a password: `auth` has none"
            raise self._error(why) from None
        except redis.NoPermissionError as error:
            raise self._error(f"doesn't allow it: {error}") from None
        except redis.BusyLoadingError:
            raise self._error("is starting: it loads its data") from None
        except redis.ReadOnlyError:
            raise self._error("is a replica, which can't be written") from None
        except redis.MovedError:
            raise self._error("is a Redis Cluster, which isn't supported") from None
        except redis.TimeoutError:
            raise self._error("gives no answer") from None
        except (redis.ConnectionError, OSError) as error:
            raise self._error(f"can't be reached: {cause(error)}") from None
        except redis.ResponseError as error:
            if "can't run this command" in str(error):  # in a script
                raise self._error(f"doesn't allow it: {error}") from None
            raise self._error(f"can't do that: {error}") from None
        except redis.RedisError as error:
            raise self._error(f"can't do that: {error}") from None

    def _error(self, why: str) -> SourceError:
        return SourceError(f"the Redis server {self.address} {why}")


def connection(options: Options) -> Connection:
    """Raises SourceError for options that can't be."""
    tls = options.value("tls", False)
    username, password = options.text("username", ""), options.secret("auth")
    if username and not password:
        raise SourceError(f"{options.name}: `username` needs `auth`, its password")
    return Connection(
        options.text("brokers"),
        username,
        password,
        tls is not False,
        None if isinstance(tls, bool) else options.secret("tls"),
    )
