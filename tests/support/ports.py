"""Ports on loopback, for servers that must be told theirs.

Not from where the system takes one for whoever asks for any: between the question for a free one and the
start of a server, which for some takes seconds, it would be given away. Each process of a test run has some
of its own.
"""

import os
import socket
from itertools import count

FIRST, EACH, PROCESSES = 20_000, 1_250, 8

_numbers = count(387 * os.getpid())
"""Another run on this machine is likely to be elsewhere, one that began at the same time too."""


def free_port() -> int:
    """None twice, before all the others were given."""
    process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % PROCESSES
    while True:
        port = FIRST + process * EACH + next(_numbers) % EACH
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
