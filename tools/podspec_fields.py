"""Write wqc/model/kubernetes/podspec-1.NN.json: every field that a pod's spec may have, for the checks.

The source is the schemas in the PyPI package kubernetes-validate, for its three newest versions.

Shape of a file:

    {"kubernetes": "1.37",
     "root": "PodSpec",
     "types": {"PodSpec": {"fields": {"containers": "[Container]", "nodeSelector": "{string}",
                                      "affinity": "Affinity", "priority": "integer", ...},
                           "required": ["containers"]},
               ...}}

A field's value is a type expression: a scalar (`string`, `integer`, `number`, `boolean`, `quantity`: a string
or a number such as `500m`, `int-or-string`, `any`), the name of another entry of `types` (these begin with a
capital), `[T]` for a list of T or `{T}` for a map from strings to T. `required` is absent where nothing is.

usage: podspec_fields.py [FOLDER]    (default: wqc/model/kubernetes)
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate

SCHEMAS = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema"
FOLDER = Path(__file__).resolve().parent.parent / "wqc" / "model" / "kubernetes"
ROOT = "io.k8s.api.core.v1.PodSpec"
SCALARS = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "string",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "string",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "any",
}


def newest_versions(count: int = 3) -> list[str]:
    """The newest `count` minor versions that kubernetes-validate has schemas of, oldest first: `1.35` …"""
    minors = {int(found[1]) for path in SCHEMAS.iterdir() if (found := re.match(r"v1\.(\d+)\.", path.name))}
    return [f"1.{minor}" for minor in sorted(minors)[-count:]]


def expression(schema: dict[str, Any]) -> tuple[str, set[str]]:
    """The type expression of a field's schema, and the full names of the definitions that it mentions."""
    if "$ref" in schema:
        full = schema["$ref"].removeprefix("#/$defs/")
        return (SCALARS[full], set()) if full in SCALARS else (short(full), {full})
    kinds = schema.get("type", "any")
    kind = next(each for each in kinds if each != "null") if isinstance(kinds, list) else kinds
    if kind == "array":
        inner, mentioned = expression(schema["items"])
        return f"[{inner}]", mentioned
    if kind == "object" and "additionalProperties" in schema:
        inner, mentioned = expression(schema["additionalProperties"])
        return f"{{{inner}}}", mentioned
    if kind == "object":
        raise ValueError(f"an object without named fields: {schema}")
    return kind, set()


def short(full: str) -> str:
    return full.rpartition(".")[2]


def podspec(version: str) -> dict[str, Any]:
    """The field tree of one version (`1.37`), in the shape that the module's docstring gives."""
    definitions = json.loads((SCHEMAS / f"v{version}.0-local" / "_definitions.json").read_text())["$defs"]
    types: dict[str, Any] = {}
    waiting = [ROOT]
    while waiting:
        full = waiting.pop()
        if short(full) in types:
            continue
        schema = definitions[full]
        fields = {}
        for name, field in sorted(schema["properties"].items()):
            fields[name], mentioned = expression(field)
            waiting += sorted(mentioned)
        types[short(full)] = {"fields": fields}
        if schema.get("required"):
            types[short(full)]["required"] = sorted(schema["required"])
    return {"kubernetes": version, "root": short(ROOT), "types": dict(sorted(types.items()))}


def render(version: str) -> str:
    """One type per line, so that a new Kubernetes gives a diff that can be read."""
    tree = podspec(version)
    lines = [f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in tree.pop("types").items()]
    head = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in tree.items())
    return "{" + head + ',\n"types": {\n' + ",\n".join(lines) + "\n}}\n"


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for version in newest_versions():
        (folder / f"podspec-{version}.json").write_text(render(version))


if __name__ == "__main__":
    main()
