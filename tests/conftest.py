"""What holds for all tests."""

import signal

import pytest
from hypothesis import settings

from support import gobuild
from support.told import TOLD

# how long an example takes says how busy the machine is
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


def pytest_configure(config: pytest.Config) -> None:
    """Builds that take minutes are told at once, past the capture of output."""
    # A shell's background job ignores interrupts, and so would all that the tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal:
        gobuild.announce = lambda line: terminal.write_line(f"\n{line}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What a test wants people to know, whether it passed or not."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, text in getattr(report, "user_properties", ()):
                if name == TOLD and report.when == "call":
                    terminalreporter.write_line(str(text))
