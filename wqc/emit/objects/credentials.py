"""Credentials as files of the one container that needs them, which are renewed while it runs."""

from typing import Any

from wqc.emit.objects.volumes import Mount, Volumes
from wqc.emit.placement import Credentials
from wqc.language.values import Secret

FOLDER = "/etc/wqc-credentials"
_CERTIFICATE = "ca.crt"
"""The key that `tls = secret(NAME)` means: where Secrets of certificates have the authority's."""


def file_of(secret: Secret) -> str:
    """Where a container finds it."""
    return f"{FOLDER}/{secret.name}/{_key(secret)}"


def mounts(container: str, credentials: Credentials, volumes: Volumes) -> tuple[Mount, ...]:
    """The mount that holds all of a container's credentials, and no other keys of their Secrets."""
    keys: dict[str, list[dict[str, str]]] = {}
    for secret in dict.fromkeys(secret for _, secret in credentials):
        key = _key(secret)
        keys.setdefault(secret.name, []).append({"key": key, "path": f"{secret.name}/{key}"})
    if not keys:
        return ()
    sources: list[dict[str, Any]] = [
        {"secret": {"name": name, "items": items}} for name, items in keys.items()
    ]
    return (
        Mount(volumes.add(f"{container}-credentials", {"projected": {"sources": sources}}), FOLDER, True),
    )


def _key(secret: Secret) -> str:
    return secret.key or _CERTIFICATE
