"""Limits of Kubernetes and of the design, each with where it comes from."""

SMALL_ITEM_BYTES = 64 * 1024
"""JSON up to this travels in an annotation; all annotations of an object may hold 256 KiB (apimachinery,
TotalAnnotationSizeLimitB).
"""

LARGE_ITEM_BYTES = 900 * 1024
"""JSON up to this travels in a ConfigMap, which may hold 1 MiB (kubernetes, core validation
MaxSecretSize).
"""

CONFIG_MAP_BYTES = 1024 * 1024

RESULT_BYTES = 4095
"""A termination message keeps its last 4096 bytes, silently; so a result must be shorter."""

NAME_LENGTH = 16_384
"""Characters of an item's name, and of its version: a Job says both, in any encoding."""
ITEM_FIELDS = 50
"""How many top-level scalars of an item's data get a file of their own."""

FIELD_NAME = r"[A-Za-z][A-Za-z0-9_]{0,62}"

FAILED_LIMIT = 1000
"""How many failed items a queue, or a pattern node, holds unless the queue says otherwise."""

MOST_FAILED = 10_000
"""How many it may say at most: who wants all of them retried has their Jobs named, in one ConfigMap."""

KEEP = 3600.0
"""Seconds that a finished Job stays unless its queue says otherwise."""

FINISHED_JOBS = 5000
"""How many finished Jobs a workflow keeps at most."""

LONGEST_SECONDS = 2**31 - 1
"""Of any duration: a pod's `activeDeadlineSeconds` may say no more (kubernetes, core validation
ValidatePodSpec).
"""
