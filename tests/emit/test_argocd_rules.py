"""What Argo CD demands of objects in git, rule by rule, over all goldens."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.goldens import FOLDERS, GoldenObject, objects

pytestmark = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)

LABELS = {f"app.kubernetes.io/{name}" for name in ("name", "component", "part-of", "managed-by")}
QUANTITY = re.compile(r"(\d+)(m|k|M|G|T|Ki|Mi|Gi|Ti)?")


@cache
def everything(folder: Path) -> list[GoldenObject]:
    return list(objects(folder))


def committed(folder: Path) -> list[GoldenObject]:
    """What git itself holds: not the templates of Jobs in ConfigMaps."""
    return [each for each in everything(folder) if ":" not in each.origin]


def of_kind(folder: Path, kind: str) -> list[dict[str, Any]]:
    return [each.manifest for each in committed(folder) if each.manifest["kind"] == kind]


def walk(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from walk(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from walk(inner, (*path, str(index)))


def metadata_of(folder: Path) -> Iterator[dict[str, Any]]:
    """All metadata, of pod templates too."""
    for each in everything(folder):
        for path, value in walk(each.manifest):
            if path and path[-1] == "metadata" and isinstance(value, dict):
                yield value


def test_1_no_label_or_annotation_that_argo_cd_tracks_by(folder: Path) -> None:
    for metadata in metadata_of(folder):
        keys = {*metadata.get("labels", {}), *metadata.get("annotations", {})}
        assert "app.kubernetes.io/instance" not in keys
        assert not keys & {"argocd.argoproj.io/tracking-id", "argocd.argoproj.io/instance"}


def test_1_the_recommended_labels(folder: Path) -> None:
    for each in everything(folder):
        assert set(each.manifest["metadata"]["labels"]) >= LABELS, each.label


def test_2_nothing_in_git_has_an_owner(folder: Path) -> None:
    assert not any("ownerReferences" in metadata for metadata in metadata_of(folder))


def test_2_the_owners_of_jobs_are_stable_and_stay(folder: Path) -> None:
    """The ConfigMaps of queues and of the manager have names of their own, and stay as they are."""
    maps = [each for each in of_kind(folder, "ConfigMap") if {"job.yaml", "manager.py"} & each["data"].keys()]
    for each in maps:
        is_queue = "settings.yaml" in each["data"]
        queue = yaml.safe_load(each["data"]["settings.yaml"])["queue"] if is_queue else "manager"
        workflow = each["metadata"]["labels"]["app.kubernetes.io/part-of"]
        assert each["metadata"]["name"] == f"{workflow}-{queue}".replace("_", "-")
        options = each["metadata"]["annotations"]["argocd.argoproj.io/sync-options"].split(",")
        assert {"Prune=false", "Delete=false"} == set(options)
        # Once it is retired it stays, and the application is in sync all the same.
        assert each["metadata"]["annotations"]["argocd.argoproj.io/compare-options"] == "IgnoreExtraneous"


def test_3_a_job_in_git_has_a_hash_in_its_name_and_no_end_of_life(folder: Path) -> None:
    for job in of_kind(folder, "Job"):
        assert re.search(r"-[0-9a-f]{10}$", job["metadata"]["name"])
        assert "ttlSecondsAfterFinished" not in job["spec"]


def test_4_no_sync_waves_or_hooks(folder: Path) -> None:
    for metadata in metadata_of(folder):
        assert not {"argocd.argoproj.io/sync-wave", "argocd.argoproj.io/hook"} & {
            *metadata.get("annotations", {})
        }


def test_5_deployments_are_selected_by_two_fixed_labels(folder: Path) -> None:
    for deployment in of_kind(folder, "Deployment"):
        labels = deployment["spec"]["selector"]["matchLabels"]
        assert set(labels) == {"app.kubernetes.io/component", "app.kubernetes.io/part-of"}
        assert labels["app.kubernetes.io/part-of"] == folder.name.replace("_", "-")


def test_6_quantities_are_canonical(folder: Path) -> None:
    for each in everything(folder):
        for path, value in walk(each.manifest):
            if len(path) > 1 and (path[-2] in ("requests", "limits") or path[-1] == "sizeLimit"):
                found = QUANTITY.fullmatch(value)
                assert found, (each.label, path, value)
                number, unit = int(found[1]), found[2]
                assert unit != "m" or number % 1000, (each.label, path, value)
                assert unit not in ("Ki", "Mi", "Gi") or number % 1024, (each.label, path, value)


def test_6_no_nulls_no_status_no_variable_twice(folder: Path) -> None:
    for each in everything(folder):
        assert "status" not in each.manifest
        for path, value in walk(each.manifest):
            assert value is not None, (each.label, path)
            if path and path[-1] == "env":
                twice = [
                    name for name, count in Counter(entry["name"] for entry in value).items() if count > 1
                ]
                assert not twice, (each.label, path)


def test_7_what_the_deployment_reads_has_a_fixed_name_and_counts_in_its_checksum(folder: Path) -> None:
    maps = {each["metadata"]["name"] for each in of_kind(folder, "ConfigMap")}
    for deployment in of_kind(folder, "Deployment"):
        template = deployment["spec"]["template"]
        assert re.fullmatch(r"sha256-[0-9a-f]{16}", template["metadata"]["annotations"]["wqc/checksum"])
        own = {
            source["configMap"]["name"]
            for volume in template["spec"]["volumes"]
            if volume["name"] == "settings"
            for source in volume["projected"]["sources"]
        }
        assert own <= maps
        assert not any(re.search(r"-[0-9a-f]{8,}$", name) for name in own)


def test_8_the_kustomization_lists_what_is_there(folder: Path) -> None:
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    files = sorted(path.name for path in folder.glob("*.yaml") if path.name != "kustomization.yaml")
    assert kustomization["resources"] == files
    assert set(kustomization) == {"apiVersion", "kind", "resources"}


def test_8_no_namespace_and_nothing_twice(folder: Path) -> None:
    identities = Counter(
        (each.manifest["kind"], each.manifest["metadata"].get("namespace"), each.manifest["metadata"]["name"])
        for each in committed(folder)
    )
    assert all(count == 1 for count in identities.values())
    assert not any(kind == "Namespace" for kind, _, _ in identities)
    assert len({namespace for _, namespace, _ in identities}) == 1


def test_9_the_output_is_never_empty(folder: Path) -> None:
    assert committed(folder)


def test_10_what_nothing_scales_has_its_replicas(folder: Path) -> None:
    """The manager scales the queues itself; its own Deployment is always one pod."""
    for deployment in of_kind(folder, "Deployment"):
        assert deployment["spec"]["replicas"] == 1
        assert deployment["spec"]["strategy"] == {"type": "Recreate"}
