"""A real API server takes what no example has: a workflow with every attribute that changes an object."""

from pathlib import Path

from cluster.client import Client
from cluster.test_golden_dry_run import ensure_namespace
from support.goldens import objects
from wqc.diagnostics.source import Source
from wqc.pipeline import Options, build

EVERYTHING = Path(__file__).resolve().parents[1] / "emit" / "everything.wq"


def test_every_attribute_is_accepted(api_server: Client, tmp_path: Path) -> None:
    ensure_namespace(api_server, "everything")
    for name, text in build(Source(EVERYTHING.name, EVERYTHING.read_text()), Options()).files.items():
        (tmp_path / name).write_text(text)
    refused, warned = [], []
    for each in objects(tmp_path):
        answer = api_server.dry_run(each.manifest, "everything")
        if answer.status != 201:
            refused.append(f"{each.origin} {each.label}: {answer.body['message']}")
        elif answer.warnings:
            warned.append(each.label)
    assert not refused, "\n".join(refused)
    # it states a lower profile; wqc warns as the API server does
    assert warned == ["Job/everything-three"]
