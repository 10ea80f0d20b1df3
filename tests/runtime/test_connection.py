"""The way to the API server: a pod's token that is renewed, TLS, proxies, and what a kubeconfig may say."""

import asyncio
import datetime
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import trustme
import yaml
from kubernetes.config import incluster_config

from support.badserver import http, server
from wqc.runtime.stores.kubernetes import connection
from wqc.runtime.stores.kubernetes.connection import NoCluster, connect
from wqc.runtime.stores.kubernetes.transport import ApiError

PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")


@dataclass
class Api:
    """A server that answers everything with {}."""

    url: str
    authority: trustme.CA
    heads: list[str] = field(default_factory=list)

    def tokens(self) -> list[str]:
        lines = [line.partition(":") for head in self.heads for line in head.split("\r\n")]
        return [value.strip().lower() for name, _, value in lines if name.lower() == "authorization"]


def tls(authority: trustme.CA, asks_for_a_certificate: bool = False) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    if asks_for_a_certificate:
        context.verify_mode = ssl.CERT_REQUIRED
        authority.configure_trust(context)
    return context


def fine(request: str, client: socket.socket) -> None:
    client.sendall(http(200, "{}"))


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    authority = trustme.CA()
    heads: list[str] = []
    with server(fine, heads, tls(authority)) as url:
        yield Api(url.replace("http:", "https:"), authority, heads)


def ask() -> bytes:
    """As one that starts: what it is asked first."""
    transport, _ = connect()
    return asyncio.run(transport.ask("GET", "/version"))


class Config:
    """A kubeconfig that can be changed."""

    def __init__(self, file: Path, api: Api) -> None:
        self._file = file
        authority = file.with_name("ca.crt")
        api.authority.cert_pem.write_to_path(authority)
        self.cluster: dict[str, Any] = {"server": api.url, "certificate-authority": str(authority)}
        self.user: dict[str, Any] = {"token": "mine"}

    def write(self) -> None:
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": self.cluster}],
            "users": [{"name": "u", "user": self.user}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "films"}}],
            "current-context": "x",
        }
        self._file.write_text(yaml.safe_dump(content))


@pytest.fixture
def config(api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    file = tmp_path / "config"
    monkeypatch.setenv("KUBECONFIG", str(file))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    config = Config(file, api)
    config.write()
    return config


@pytest.fixture
def pod_s_token(api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This is a pod, whose token is in the file; its user has no kubeconfig."""
    folder = tmp_path / "serviceaccount"
    folder.mkdir()
    token, authority, namespace = (folder / name for name in ("token", "ca.crt", "namespace"))
    token.write_text("first")
    namespace.write_text("of-the-pod")
    api.authority.cert_pem.write_to_path(authority)
    address = api.url.removeprefix("https://").split(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", address[0])
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", address[1])
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(authority))
    monkeypatch.setattr(connection, "NAMESPACE_FILE", str(namespace))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return token


def test_a_pod_s_token_is_read_again(api: Api, pod_s_token: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kubelet renews it; the old one is refused after an hour."""
    later = datetime.timedelta()
    now = datetime.datetime.now
    clock = SimpleNamespace(now=lambda: now() + later)
    monkeypatch.setattr(
        incluster_config, "datetime", SimpleNamespace(datetime=clock, timedelta=datetime.timedelta)
    )
    transport, where = connect()
    assert where == "of-the-pod"
    asyncio.run(transport.ask("GET", "/version"))
    pod_s_token.write_text("second")
    later = datetime.timedelta(minutes=2)
    asyncio.run(transport.ask("GET", "/version"))
    transport.stream("/version", {}, 5.0).release_conn()
    assert api.tokens() == ["bearer first", "bearer second", "bearer second"]


@pytest.mark.parametrize("named", [True, False])
def test_in_a_pod_a_kubeconfig_wins(
    api: Api, tmp_path: Path, pod_s_token: Path, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    """As with kubectl, $KUBECONFIG or the one in the home folder."""
    (tmp_path / ".kube").mkdir()
    file = tmp_path / ("other" if named else ".kube/config")
    if named:
        monkeypatch.setenv("KUBECONFIG", str(file))
    else:
        monkeypatch.setenv("KUBECONFIG", "")  # as if it weren't there
    Config(file, api).write()
    transport, where = connect()
    assert (where, asyncio.run(transport.ask("GET", "/version"))) == ("films", b"{}")
    assert api.tokens() == ["bearer mine"]


@pytest.mark.parametrize(("content", "why"), [(None, "No configuration found"), ("a: [", "while parsing")])
def test_a_kubeconfig_that_is_named_and_can_not_be_used_is_said(
    pod_s_token: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None, why: str
) -> None:
    """Another cluster than the one that was asked for isn't taken in its place."""
    file = tmp_path / "typo"
    if content:
        file.write_text(content)
    monkeypatch.setenv("KUBECONFIG", str(file))
    with pytest.raises(NoCluster, match=f"^no cluster is known here: {file}: .*{why}"):
        connect()


def test_neither_a_pod_nor_a_kubeconfig(pod_s_token: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST")
    with pytest.raises(NoCluster, match=r"there is no ~/\.kube/config, and this is no pod: Service host"):
        connect()


def test_a_kubeconfig_s_cluster_user_and_namespace(api: Api, config: Config) -> None:
    transport, where = connect()
    assert (where, asyncio.run(transport.ask("GET", "/version"))) == ("films", b"{}")
    assert api.tokens() == ["bearer mine"]


def test_a_server_that_another_authority_vouches_for(api: Api, config: Config, tmp_path: Path) -> None:
    trustme.CA().cert_pem.write_to_path(tmp_path / "other.crt")
    config.cluster["certificate-authority"] = str(tmp_path / "other.crt")
    config.write()
    with pytest.raises(ApiError, match="certificate verify failed"):
        ask()
    assert api.heads == [], "nobody else is shown the token"


def test_a_certificate_for_a_user(api: Api, config: Config, tmp_path: Path) -> None:
    own = api.authority.issue_cert("films@example.com")
    own.cert_chain_pems[0].write_to_path(tmp_path / "user.crt")
    own.private_key_pem.write_to_path(tmp_path / "user.key")
    with server(fine, None, tls(api.authority, asks_for_a_certificate=True)) as url:
        config.cluster["server"] = url.replace("http:", "https:")
        config.write()
        with pytest.raises(ApiError):
            ask()
        config.user = {
            "client-certificate": str(tmp_path / "user.crt"),
            "client-key": str(tmp_path / "user.key"),
        }
        config.write()
        assert ask() == b"{}"


def test_a_program_that_gives_tokens_is_asked_again_when_one_is_over(
    api: Api, config: Config, tmp_path: Path
) -> None:
    """As clouds have it: `aws eks get-token` and its like."""
    given = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": "NUMBER", "expirationTimestamp": "2020-01-01T00:00:00Z"},
    }
    count = tmp_path / "count"
    script = tmp_path / "give"
    script.write_text(
        f"#!/bin/sh\necho >>{count}\necho '{json.dumps(given)}' | sed s/NUMBER/$(wc -l <{count})/\n"
    )
    script.chmod(0o755)
    config.user = {
        "exec": {"apiVersion": given["apiVersion"], "command": str(script), "interactiveMode": "Never"}
    }
    config.write()
    transport, _ = connect()
    for _ in range(2):
        asyncio.run(transport.ask("GET", "/version"))
    first, second = api.tokens()
    assert first.startswith("bearer ")
    assert first != second


def tunnel(request: str, client: socket.socket) -> None:
    """What a proxy does for HTTPS."""
    host, _, port = request.split()[1].partition(":")
    with socket.create_connection((host, int(port))) as there:
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        back = threading.Thread(target=pump, args=(there, client), daemon=True)
        back.start()
        pump(client, there)
        back.join(5)


def pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize(
    ("named", "used"),
    [
        (lambda proxy, config, environment: environment("HTTPS_PROXY", proxy), True),
        (lambda proxy, config, environment: config.cluster.update({"proxy-url": proxy}), True),
        (lambda proxy, config, environment: environment("HTTP_PROXY", proxy), False),
        (
            lambda proxy, config, environment: (
                environment("HTTPS_PROXY", proxy),
                environment("NO_PROXY", "127.0.0.1"),
            ),
            False,
        ),
    ],
    ids=["HTTPS_PROXY", "proxy-url", "HTTP_PROXY", "NO_PROXY"],
)
def test_proxies(
    api: Api,
    config: Config,
    monkeypatch: pytest.MonkeyPatch,
    named: Callable[[str, Config, Callable[[str, str], None]], object],
    used: bool,
) -> None:
    heads: list[str] = []
    with server(tunnel, heads) as proxy:
        named(proxy, config, monkeypatch.setenv)
        config.write()
        assert ask() == b"{}"
    assert api.tokens() == ["bearer mine"]
    assert [head.split()[:2] for head in heads] == (
        [["CONNECT", api.url.removeprefix("https://")]] if used else []
    )
