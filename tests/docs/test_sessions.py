"""Sessions of the documentation: what runs them is right about their commands, ports and servers."""

import socket
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import refresh_docs  # noqa: E402  (tools/ is no package)
import sessions  # noqa: E402


def session(body: str, servers: str = "") -> str:
    return f"Text.\n\n<!-- session{servers} -->\n```console\n{body}```\n"


def test_commands_of_several_lines_and_what_they_print() -> None:
    body = "$ cat >a <<'END'\n> one\n>\n> two\n> END\n$ cat a\none\n\ntwo\n$ cat a >&2\none\n\ntwo\n"
    assert refresh_docs.refreshed(session(body)).text == session(body)
    assert sessions.commands_of(body) == ["cat >a <<'END'\none\n\ntwo\nEND", "cat a", "cat a >&2"]


def test_what_was_printed_before_is_forgotten() -> None:
    fresh = refresh_docs.refreshed(session("$ printf '%s\\n' 5\n4\n"))
    assert fresh.text == session("$ printf '%s\\n' 5\n5\n")


def test_a_port_that_somebody_has_is_no_hindrance_and_nothing_outlives_a_session() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        commands = [
            f"python3 -m http.server --bind 127.0.0.1 {port} >log 2>&1 & echo 127.0.0.1:{port} $! &",
            f"curl -s http://127.0.0.1:{port}/ | grep -c 'a file'",
            "ls",
        ]
        printed = sessions.run(commands, [], {"a file": ""})
        where, process = next(line for line in printed.splitlines() if line.startswith("127")).split()
        assert where == f"127.0.0.1:{port}"
        assert printed.endswith("\n1\n$ ls\na file\nexamples\nlog\n")
        until = time.monotonic() + 10
        while Path("/proc", process, "cwd").exists():
            assert time.monotonic() < until, "the server is still there"
            time.sleep(0.01)


def test_a_command_that_fails_is_no_output() -> None:
    with pytest.raises(refresh_docs.CommandFailed, match=r"exit code 1:\n[$] false"):
        refresh_docs.refreshed(session("$ false\n$ true\n"))
    with pytest.raises(refresh_docs.CommandFailed, match="no server reddis, but redis, "):
        refresh_docs.refreshed(session("$ true\n", " reddis"))


def test_without_its_server_a_session_stays_as_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = session("$ redis-cli ping\nno, thanks\n", " redis")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    fresh = refresh_docs.refreshed(text)
    assert fresh.text == text
    assert fresh.missing == [
        "the session with redis wasn't run: there is no redis-cli: Debian has it in redis-tools"
    ]
