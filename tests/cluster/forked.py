"""Managers in processes forked from one that has their libraries: importing them takes a second."""

import multiprocessing
import os
import runpy
import sys
from collections.abc import Mapping
from functools import cache
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

PRELOADED = ["cluster.forked", "wqc.runtime", "wqc.runtime.incluster", "wqc.runtime.graph.workflow"]


def start_manager(folder: Path, environment: Mapping[str, str]) -> BaseProcess:
    """Run `folder`/manager.py; what it writes to its standard error is added to `folder`/log."""
    process = _processes().Process(target=_manage, args=(str(folder), dict(environment)), daemon=True)
    process.start()
    return process


@cache
def _processes() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # of Python 3.11's it is the only way in
        forkserver.ensure_running()
    return context


def _manage(folder: str, environment: dict[str, str]) -> None:
    os.environ.update(environment)
    log = os.open(Path(folder, "log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 2)
    runpy.run_path(str(Path(folder, "manager.py")), run_name="__main__")
