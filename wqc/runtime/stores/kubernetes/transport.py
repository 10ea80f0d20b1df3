"""Requests to the API server: the official client's configuration, TLS, proxies, tokens; not its models."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, cast
from urllib.parse import urlencode

import urllib3
from kubernetes.client import ApiClient, ApiException

from wqc.runtime.stores.kubernetes.traffic import Traffic
from wqc.runtime.threads import in_thread

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"


class ApiError(Exception):
    """`status`: of HTTP, 0 where there was no answer. `retry_after`: seconds, where the server said so."""

    def __init__(self, status: int, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.retry_after = retry_after


class Transport:
    """`timeout`: seconds for an answer; a stream may be silent for longer."""

    def __init__(self, client: ApiClient, timeout: float = 30.0) -> None:
        self._client = client
        self._timeout = timeout
        self.traffic = Traffic()

    async def ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: dict[str, Any] | None = None,
        content_type: str = JSON,
        accept: str = JSON,
        at_once: bool = False,
    ) -> bytes:
        """The answer's body. `at_once`: it waits for no other request, however many are slow. Raises
        ApiError.
        """
        work = partial(self._ask, method, path, query or {}, body, content_type, accept)
        return await (in_thread(work) if at_once else asyncio.to_thread(work))

    def _ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: dict[str, Any] | None,
        content_type: str,
        accept: str,
    ) -> bytes:
        return _whole(self._send(method, path, query, body, content_type, accept, (5.0, self._timeout)))

    def stream(self, path: str, query: Mapping[str, str], silence: float) -> urllib3.BaseHTTPResponse:
        """An answer that goes on; reading fails after `silence` seconds without a byte. Raises ApiError."""
        answer = self._send("GET", path, query, None, JSON, JSON, (5.0, silence))
        if answer.status != 200:
            _whole(answer)
        return answer

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: dict[str, Any] | None,
        content_type: str,
        accept: str,
        timeout: tuple[float, float],
    ) -> urllib3.BaseHTTPResponse:
        headers = {"Accept": accept, "User-Agent": "wqc-manager"}
        if body is not None:
            headers["Content-Type"] = content_type
        self._client.update_params_for_auth(headers, [], ["BearerToken"], path, method, body)
        url = self._client.configuration.host + path + (f"?{urlencode(query)}" if query else "")
        try:
            send = cast(Callable[..., Any], self._client.rest_client.request)
            sent = send(method, url, headers=headers, body=body, _request_timeout=timeout)
        except ApiException as error:
            self.traffic.asked(method, path, query, error.status or 0)
            raise ApiError(error.status or 0, str(error.reason)) from None
        except (urllib3.exceptions.HTTPError, OSError) as error:
            self.traffic.asked(method, path, query, 0)
            raise ApiError(0, f"the API server can't be reached: {error}") from None
        answer: urllib3.BaseHTTPResponse = sent.response
        self.traffic.asked(method, path, query, answer.status)
        return answer


def lines(answer: urllib3.BaseHTTPResponse) -> Iterator[list[bytes]]:
    """The answer's lines, as they come, as many as come together."""
    rest = b""
    for chunk in answer.stream(amt=65536, decode_content=True):
        *whole, rest = (rest + chunk).split(b"\n")
        if whole:
            yield whole


def _whole(answer: urllib3.BaseHTTPResponse) -> bytes:
    """Its body. Raises ApiError."""
    try:
        content = bytes(answer.read(decode_content=True))
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise ApiError(0, f"the API server's answer broke off: {error}") from None
    finally:
        answer.release_conn()
    _check(answer, content)
    return content


def _check(answer: urllib3.BaseHTTPResponse, content: bytes) -> None:
    if answer.status < 400:
        return
    try:
        reason = json.loads(content)["message"]
    except (ValueError, KeyError, TypeError):
        reason = f"the API server answers {answer.status}"
    try:
        retry_after = float(answer.headers.get("Retry-After", ""))
    except ValueError:
        retry_after = None
    raise ApiError(answer.status, str(reason), retry_after)
