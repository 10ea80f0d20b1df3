"""What is wrong with a connection, for people."""

import os
import socket
import ssl


def cause(error: BaseException) -> str:
    """Of what a client raised: its first cause, since its own texts repeat the address or say little."""
    while (earlier := error.__cause__ or error.__context__) is not None:
        error = earlier
    match error:
        case ssl.SSLCertVerificationError():
            return f"its certificate isn't trusted: {error.verify_message}"
        case ssl.SSLError():
            return "it doesn't speak TLS"
        case socket.gaierror():
            return "its name can't be resolved"
        case TimeoutError():
            return "no answer in time"
        case OSError(errno=int(number)) if number > 0:
            return os.strerror(number)
        case _:
            return " ".join(str(error).split()) or type(error).__name__
