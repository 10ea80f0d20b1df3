"""Certificates for a server on loopback."""

from dataclasses import dataclass
from pathlib import Path

import trustme


@dataclass(frozen=True)
class Certificates:
    """Files in PEM."""

    authority: Path
    chain: Path
    key: Path


def certificates(folder: Path, *names: str) -> Certificates:
    """By an authority of their own, for addresses or host names."""
    authority = trustme.CA()
    issued = authority.issue_cert(*names)
    written = Certificates(folder / "authority.pem", folder / "chain.pem", folder / "key.pem")
    authority.cert_pem.write_to_path(str(written.authority))
    issued.private_key_pem.write_to_path(str(written.key))
    written.chain.write_bytes(b"".join(each.bytes() for each in issued.cert_chain_pems))
    return written
