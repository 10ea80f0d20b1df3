"""Settings of sources and carriers as they are on this machine: where a volume is, and where secrets are."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from wqc.cli.ending import Trouble
from wqc.cli.standins import Given
from wqc.contract.settings import Setting, SourceSettings
from wqc.emit.objects.settings import of_source
from wqc.language.values import Pvc, Secret
from wqc.model.nodes import Source
from wqc.runtime.stores.local.standins import variable


def source_settings_here(workflow: str, source: Source, member: str, given: Given) -> SourceSettings:
    """`member` is "" where the source is no bundle. Raises Trouble."""
    settings = of_source(workflow, source)
    if not member:
        return replace(settings, options={**settings.options, **options_here(source.options, given)})
    options = {**settings.members[member], **options_here(source.members[member], given)}
    return replace(settings, members={**settings.members, member: options})


def options_here(options: Mapping[str, Any], given: Given) -> dict[str, Setting]:
    """Those that are others than in a cluster. Raises Trouble."""
    changed: dict[str, Setting] = {}
    for option, value in options.items():
        match value:
            case Pvc():
                changed["path"] = _folder(value, given)
            case Secret():
                changed[option] = _secret(value, given)
    return changed


def _folder(claim: Pvc, given: Given) -> str:
    if claim.name not in given.volumes:
        raise Trouble(f"where is the volume {claim.name}? Name a folder: --volume {claim.name}=FOLDER")
    return str(given.volumes[claim.name].absolute() / claim.sub_path)


def _secret(secret: Secret, given: Given) -> dict[str, str]:
    name, value = f"{secret.name}/{secret.key}", variable(secret.name, secret.key)
    if file := given.secrets.get(name):
        return {"file": str(file)}
    if value not in os.environ:
        raise Trouble(f"what is {name}? Set {value}, or name the file that holds it: --secret {name}=FILE")
    return {"env": value}
