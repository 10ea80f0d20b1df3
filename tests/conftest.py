"""What holds for all tests."""

import pytest

from support import gobuild


def pytest_configure(config: pytest.Config) -> None:
    """Builds that take minutes are told at once, past the capture of output."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal:
        gobuild.announce = lambda line: terminal.write_line(f"\n{line}")
