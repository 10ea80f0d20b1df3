"""Structured logs: one JSON object a line."""

import json
import logging
import sys
import time

LOGGER = logging.getLogger("wqc")


def log(level: int, text: str, **facts: object) -> None:
    """`facts` are what the line is about: queue, item, job, reason, …"""
    LOGGER.log(level, text, extra={"facts": facts})


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "text": record.getMessage(),
        }
        if record.name != LOGGER.name:
            line["logger"] = record.name
        line |= getattr(record, "facts", {})
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def log_as_json() -> None:
    """What libraries warn of as well."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for logger in (LOGGER, logging.getLogger()):
        logger.handlers = [handler]
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
    logging.captureWarnings(True)
