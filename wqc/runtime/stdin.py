"""What a worker reads that takes its item from standard input."""

from wqc.runtime.text import decode_known, scalar


def stdin_text(data: str) -> str:
    """A text as it is, anything else as JSON."""
    value = decode_known(data)
    text = scalar(value) if isinstance(value, str) else None
    return data if text is None else text
