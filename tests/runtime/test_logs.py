"""All that a process of the runtime logs is JSON, a line each, whoever says it."""

import json
import subprocess
import sys

PROGRAM = """
import logging, warnings
from wqc.runtime.logs import log, log_as_json
import wqc.runtime.rabbitmq.connection
log_as_json()
log(logging.INFO, "ours", queue="thumbs")
logging.getLogger("kubernetes.watch").warning("theirs: %s", 410)
logging.getLogger("kubernetes.watch").info("a detail")
logging.getLogger("aiormq.connection").error("what it raises as well")
warnings.warn("old")
try:
    1 / 0
except ZeroDivisionError:
    logging.getLogger("asyncio").exception("of nobody's task")
"""


def test_what_libraries_warn_of_is_json_too() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in ran.stderr.splitlines()]
    assert [(line["level"], line.get("logger"), line["text"].splitlines()[0]) for line in lines[:2]] == [
        ("info", None, "ours"),
        ("warning", "kubernetes.watch", "theirs: 410"),
    ]
    assert lines[2]["logger"] == "py.warnings"
    assert "old" in lines[2]["text"]
    assert (lines[3]["logger"], lines[3]["text"]) == ("asyncio", "of nobody's task")
    assert lines[3]["error"].endswith("ZeroDivisionError: division by zero")
    assert len(lines) == 4
    assert ran.stdout == ""
