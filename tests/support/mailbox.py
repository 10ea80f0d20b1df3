"""A real SMTP server that keeps what it is sent."""

import email
import email.policy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller

from support.ports import free_port


@dataclass
class Mailbox:
    port: int
    mails: list[tuple[list[str], EmailMessage]] = field(default_factory=list)
    """(recipients of the envelope, the mail)"""

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        mail = email.message_from_bytes(envelope.content, EmailMessage, policy=email.policy.default)
        self.mails.append((list(envelope.rcpt_tos), mail))
        return "250 kept"


@contextmanager
def mailbox(address: str = "127.0.0.1") -> Iterator[Mailbox]:
    kept = Mailbox(free_port())
    controller = Controller(kept, hostname=address, port=kept.port)
    controller.start()
    try:
        yield kept
    finally:
        controller.stop()
