"""A carrier that an ambassador runs."""

from urllib.parse import urlencode, urlsplit

from wqc.runtime.carriers.carrier import NotAccepted
from wqc.runtime.sources.connections import Connections
from wqc.runtime.sources.http import encoded, refusal
from wqc.runtime.sources.source import SourceError


class HttpCarrier:
    """`timeout`: seconds that an answer may take."""

    def __init__(self, url: str, timeout: float) -> None:
        self._url = url.rstrip("/") + "/api/v1/items"
        self._path = urlsplit(self._url).path
        self._connections = Connections(self._url, timeout)

    async def publish(self, name: str, version: str, text: str) -> None:
        target = f"{self._path}/{encoded(name)}"
        if version:
            target += "?" + urlencode({"version": version}, errors="surrogatepass")
        body = text.encode(errors="surrogatepass")
        try:
            answer = await self._connections.request(
                "PUT", target, {"Content-Type": "application/json"}, body
            )
        except SourceError as error:
            raise SourceError(f"{self._url} {error}") from None
        if answer.status == 422:
            raise NotAccepted(refusal(self._url, answer))
        if answer.status != 204:
            raise SourceError(refusal(self._url, answer))

    async def close(self) -> None:
        self._connections.close()
