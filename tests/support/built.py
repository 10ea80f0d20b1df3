"""The folder of a workflow text, its objects read."""

from pathlib import Path
from typing import Any

import yaml

from wqc.diagnostics.source import Source
from wqc.pipeline import Built, Options, build

EVERYTHING = Path(__file__).resolve().parents[1] / "emit" / "everything.wq"


class Folder:
    """`text` is a whole `.wq` file."""

    def __init__(self, text: str, name: str = "test.wq", image: str = "") -> None:
        self.built: Built = build(Source(name, text), Options(image=image))
        assert self.built.files, self.built.checked.findings

    def objects(self, file: str) -> list[dict[str, Any]]:
        return list(yaml.safe_load_all(self.built.files[file]))

    def object(self, file: str, kind: str, name: str = "") -> dict[str, Any]:
        """The only one of its kind, or that of this name."""
        (found,) = (
            each
            for each in self.objects(file)
            if each["kind"] == kind and name in ("", each["metadata"]["name"])
        )
        return found

    def settings(self, queue: str) -> dict[str, Any]:
        data = self.object(f"queue-{queue}.yaml", "ConfigMap")["data"]
        return dict(yaml.safe_load(data["settings.yaml"]))

    def pod(self, queue: str) -> dict[str, Any]:
        """The pod's spec in the queue's job.yaml."""
        job = yaml.safe_load(self.object(f"queue-{queue}.yaml", "ConfigMap")["data"]["job.yaml"])
        return dict(job["spec"]["template"]["spec"])

    def program(self) -> str:
        return str(self.object("manager.yaml", "ConfigMap")["data"]["manager.py"])

    def manager(self) -> dict[str, Any]:
        return dict(self.object("manager.yaml", "Deployment")["spec"]["template"]["spec"])


def variables(container: dict[str, Any]) -> dict[str, str]:
    """Those with a value."""
    return {each["name"]: each["value"] for each in container["env"] if "value" in each}


def mounts(container: dict[str, Any]) -> dict[str, str]:
    """Volumes by path."""
    return {each["mountPath"]: each["name"] for each in container["volumeMounts"]}
