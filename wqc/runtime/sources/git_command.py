"""The git program, run so that it asks nobody, reads nothing of the user's and tells one host its secret."""

import asyncio
import os
import re
import shutil
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from wqc.runtime.sources.options import Credential
from wqc.runtime.sources.source import SourceError

HELPER = (
    """!f() { test "$1" = get && """
    """printf 'username=%s\\npassword=%s\\n' "$WQC_GIT_USERNAME" "$WQC_GIT_PASSWORD"; }; f"""
)
"""A credential helper reads its answer from the environment, so that it stands in no argument and no file."""

_WITH_PASSWORD = re.compile(r"(?<=://)[^/@\s]+@")


@dataclass(frozen=True, slots=True)
class Login:
    """`username` matters to few: with a token most servers take any."""

    username: str
    password: Credential


@dataclass(frozen=True, slots=True)
class Git:
    """`timeout`: seconds for one command; what runs longer is ended."""

    url: str
    folder: Path
    login: Login | None
    timeout: float

    async def run(self, *arguments: str) -> bytes:
        """Its standard output. Raises SourceError with what it said."""
        program = shutil.which("git")
        if program is None:
            raise SourceError("there is no git program")
        process = await asyncio.create_subprocess_exec(
            program,
            *arguments,
            cwd=self.folder,
            env=self._environment(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self.timeout):
                out, err = await process.communicate()
        except TimeoutError:
            raise SourceError(f"{shown(self.url)}: no answer within {self.timeout:g} s") from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        if process.returncode:
            raise SourceError(f"{shown(self.url)}: {self._reason(err.decode(errors='replace'))}")
        return out

    def _environment(self) -> dict[str, str]:
        """Proxies and certificates stay as the user has them."""
        config = {
            "gc.autoDetach": "false",
            "pack.threads": "1",
            "pack.windowMemory": "8m",
            "core.packedGitLimit": "16m",
            "http.lowSpeedLimit": "100",
            "http.lowSpeedTime": "30",
        }
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment |= {
            "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_DIR": str(self.folder),
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_SSH_COMMAND": "ssh -o BatchMode=yes -o ConnectTimeout=10",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C.UTF-8",
        }
        if self.login:
            parts = urlsplit(self.url)
            host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
            config[f"credential.{parts.scheme}://{host}.helper"] = HELPER
            environment |= {
                "WQC_GIT_USERNAME": self.login.username,
                "WQC_GIT_PASSWORD": self.login.password(),
            }
        return environment | _as_variables(config)

    def _reason(self, text: str) -> str:
        """What it died of; never a credential."""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        fatal = [line for line in lines if line.startswith("fatal:")]
        reason = (fatal or lines[-1:] or ["git failed without a word"])[0]
        if "could not read Username" in reason or "could not read Password" in reason:
            reason = "it asks for credentials, and there is no `auth`"
        if self.login:
            reason = reason.replace(self.login.password(), "***")
        return shown(reason.removeprefix("fatal: "))


def shown(text: str) -> str:
    """Without what stands before the host in an address."""
    return _WITH_PASSWORD.sub("", text)


def _as_variables(config: Mapping[str, str]) -> dict[str, str]:
    variables = {"GIT_CONFIG_COUNT": str(len(config))}
    for number, (key, value) in enumerate(config.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables
