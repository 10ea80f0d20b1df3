"""Credentials on their way to services outside the cluster."""

import re
from collections.abc import Iterator, Mapping

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import security as mistakes
from wqc.language.declaration import Given
from wqc.model.nodes import Carrier, Source
from wqc.model.workflow import Workflow

_CREDENTIALS = ("auth", "secret_key")
_URLS = ("url", "endpoint", "management")
_INSIDE = re.compile(r"[^.]+|.+\.svc(\..+)?|.+\.(local|internal)|127(\.\d+){3}|\[?::1\]?")


def transport(workflow: Workflow) -> Iterator[Finding]:
    """Plain http:// and brokers without TLS, where credentials go along."""
    for node in workflow.nodes.values():
        if isinstance(node, Source | Carrier):
            found: list[Finding] = []
            for attributes in node.declaration.members.values() or (node.declaration.attributes,):
                found += _of(attributes, node.kind)
            # What the members of a bundle share is said once.
            yield from dict.fromkeys(found)


def _of(given: Mapping[str, Given], kind: str) -> Iterator[Finding]:
    credentials = next((given[name].span for name in _CREDENTIALS if name in given), None)
    if credentials is None:
        return
    for name in _URLS:
        url = given[name].value if name in given else ""
        if url.startswith("http://") and not inside(url.removeprefix("http://")):
            rest = url.removeprefix("http://")
            fix = f"use `https://{rest}`"
            yield mistakes.credentials_in_clear(given[name].span, f"`{url}`", credentials, fix)
    # SCRAM, Kafka's default here, proves that the password is known without sending it.
    sent = kind != "kafka" or ("sasl" in given and given["sasl"].value == "plain")
    encrypted = "tls" in given and given["tls"].value is not False
    brokers = given["brokers"].value.split(",") if "brokers" in given else []
    outside = [broker for broker in brokers if not inside(broker)]
    if sent and not encrypted and outside:
        span = given["brokers"].span
        yield mistakes.credentials_in_clear(span, f"`{outside[0]}`", credentials, "add `tls = true`")


def inside(address: str) -> bool:
    """Whether `host:port/path` is within the cluster, as far as the name tells."""
    host = address.partition("/")[0].rpartition("@")[2]
    host = re.sub(r":\d+$", "", host)
    return bool(_INSIDE.fullmatch(host))
