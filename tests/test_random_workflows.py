"""Random valid workflows compile, to the same bytes whatever the seed of Python's hashes."""

import json
import os
import subprocess
import sys

import yaml
from hypothesis import HealthCheck, given, settings

from strategies_workflow import workflows
from wqc.diagnostics.finding import Level
from wqc.diagnostics.source import Source
from wqc.diagnostics.text import render
from wqc.pipeline import Options, build

COMPILE = """
import hashlib, json, sys
from wqc.diagnostics.source import Source
from wqc.diagnostics.text import render
from wqc.pipeline import Options, build
for text in json.load(sys.stdin):
    built = build(Source("w.wq", text), Options())
    said = json.dumps([list(built.files.items()), render(built.checked.findings)])
    print(hashlib.sha256(said.encode()).hexdigest())
"""


def compiles(text: str) -> None:
    built = build(Source("w.wq", text), Options())
    errors = [finding for finding in built.checked.findings if finding.level is Level.ERROR]
    assert not errors, f"{text}\n{render(errors)}"
    assert built.checked.workflow is not None
    assert built.checked.workflow.complete
    for name, content in built.files.items():
        if name.endswith(".yaml"):
            assert all(isinstance(each, dict) for each in yaml.safe_load_all(content)), name


def compiled_with(seed: str, texts: list[str]) -> list[str]:
    """A digest of all that a build of each text gives, in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-c", COMPILE],
        input=json.dumps(texts),
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    return ran.stdout.splitlines()


def test_they_compile_to_the_same_bytes_under_any_hash_seed() -> None:
    texts: dict[str, None] = {}

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(workflows())
    def every(text: str) -> None:
        compiles(text)
        texts[text] = None

    every()
    some = list(texts)[-25:]
    said = compiled_with("0", some)
    assert len(said) == len(some) >= 15
    for seed in ("1", "4242"):
        differing = [
            text
            for text, before, now in zip(some, said, compiled_with(seed, some), strict=True)
            if before != now
        ]
        assert not differing, differing[0]
