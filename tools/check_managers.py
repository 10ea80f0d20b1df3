"""Lint and type-check the generated managers in golden/ as hand-written code is.

A generated program is a `*.py` file of a golden folder, or a `*.py` key of one of its ConfigMaps.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent


def programs(folder: Path) -> Iterator[tuple[str, str]]:
    """Name and text of each generated program in one golden folder."""
    for path in sorted(folder.rglob("*.py")):
        yield path.name, path.read_text()
    for path in sorted(folder.rglob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            if document and document.get("kind") == "ConfigMap":
                for key, text in document.get("data", {}).items():
                    if key.endswith(".py"):
                        yield key, text


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        written = []
        for folder in sorted((ROOT / "golden").glob("*/")):
            for name, text in programs(folder):
                target = Path(scratch, f"{folder.name.replace('-', '_')}_{name}")
                target.write_text(text)
                written.append(str(target))
        if not written:
            return 0
        print(f"{len(written)} generated programs")
        config = ["--config", str(ROOT / "pyproject.toml")]
        commands = [
            ["ruff", "format", "--check", *config, *written],
            ["ruff", "check", *config, *written],
            ["mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"), *written],
        ]
        return max(subprocess.run([sys.executable, "-m", *command]).returncode for command in commands)


if __name__ == "__main__":
    sys.exit(main())
