"""How names in the language become names of Kubernetes objects, and items become Jobs.

Frozen: finished items are remembered by these hashes, and Jobs are found by these names.
"""

import hashlib
from base64 import b32encode

ITEM_HASH_BYTES = 12
ATTEMPT_DIGITS = 3
LABEL_LIMIT = 63
"""A Job's name becomes a label of its pods, and a label holds 63 characters."""

ITEM_HASH_LENGTH = 20
HELD = "--held"
"""No name of the language becomes one with two hyphens in a row."""

JOB_PREFIX_LIMIT = LABEL_LIMIT - ITEM_HASH_LENGTH - ATTEMPT_DIGITS - len("--")

WORKFLOW_LABEL = "wqc/workflow"
QUEUE_LABEL = "wqc/queue"
LANE_LABEL = "wqc/lane"
DONE_LABEL = "wqc/done"
"""On a finished Job that nothing waits for any more: what came of it is recorded and handed on."""

SUPERSEDED_LABEL = "wqc/superseded"
"""On a Job whose node is lost: another attempt may start though this one isn't over. Whichever ends first,
counts.
"""

LEDGER_LABEL = "wqc/ledger"
"""On a ConfigMap with hashes of finished items: the queue's name."""

FAILED_LABEL = "wqc/failed"
"""On a ConfigMap with hashes of finished items that failed and that a reader of `.failed` has: the queue's
name.
"""

ABSENT_LABEL = "wqc/absent"
"""On a ConfigMap with hashes of finished items that no source lists: the queue's name."""

MANAGER = "manager"
"""WORKFLOW-manager is the ConfigMap of the manager's program, and what the held items of pattern nodes belong
to.
"""

STATE = "state"
"""WORKFLOW-state is the ConfigMap of what isn't in git: pauses, requests."""

TEMPLATE_LABEL = "wqc/template"
"""On a Job: which template it is made from. On a ConfigMap of the manager's with a template: the same."""

ITEM_ANNOTATION = "wqc/item"
"""On a Job: the item's name, version, round, attempt and failures as JSON. On its pod: the item's data as
JSON.
"""

LARGE = "wqc/large"
"""On a Job, as an annotation: the files that its ConfigMap has, with commas. On that ConfigMap, a label: it
has a large item.
"""

REASON_ANNOTATION = "wqc/reason"
"""On a Job that never runs and only holds an item: why the item failed."""

FIELD_ANNOTATION = "field.wqc/"
"""On a pod, before the key of a top-level scalar of the item's data: its raw text, which becomes a file."""


def object_name(workflow: str, *parts: str) -> str:
    """`("signup", "email_on")` → `signup-email-on`."""
    return "-".join((workflow, *parts)).replace("_", "-")


def item_hash(name: str, version: str, round: int = 0) -> bytes:
    """12 bytes that stand for an item: the start of SHA-256 over its length-prefixed UTF-8 name and
    version, and round.

    Unpaired surrogates, which JSON allows, are encoded as they stand.
    """
    digest = hashlib.sha256()
    for part in (name, version, str(round)):
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.digest()[:ITEM_HASH_BYTES]


def job_name(prefix: str, item: bytes, attempt: int) -> str:
    """The Job of attempt `attempt` (from 1) at the item of hash `item` in the queue whose object is
    `prefix`.
    """
    return f"{prefix}-{b32encode(item).decode().rstrip('=').lower()}-{attempt}"


def held_job_name(workflow: str, node: str, name: str, version: str, attempt: int) -> str:
    """The Job that holds an item which failed in a pattern node; `node` may be `NODE.MEMBER`.

    Two characters shorter than a label, since it is an Indexed Job's.
    """
    prefix = object_name(workflow)[: JOB_PREFIX_LIMIT - len(HELD) - len("-0")].rstrip("-") + HELD
    return job_name(prefix, item_hash(f"{workflow}/{node}:{name}", version), attempt)
