"""A queue manager after the book's listing, with its mistakes put right.

The listing asked at other addresses than the interface that it belongs to, and put names into them unquoted;
it named Jobs after items, which few names allow; it took every Job of the namespace for its own; it never
passed an item's data on; and its Job's pod template was of the wrong kind.
"""

import hashlib
import json
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

from kubernetes import client

ITEM = "plain-queue/item"
SELECTOR = {"app": "plain-queue"}


def listed(source: str) -> list[str]:
    with urlopen(f"{source}/api/v1/items") as response:
        items: list[str] = json.load(response)["items"]
        return items


def data_of(source: str, item: str) -> Any:
    with urlopen(f"{source}/api/v1/items/{quote(item, safe='')}") as response:
        return json.load(response)["data"]


def make_container(image: str) -> client.V1Container:
    return client.V1Container(
        name="worker",
        image=image,
        env=[client.V1EnvVar(name="WORK_ITEM_FILE", value="/item/data.json")],
        volume_mounts=[client.V1VolumeMount(name="item", mount_path="/item")],
    )


def make_job(name: str, item: str, image: str) -> client.V1Job:
    volume = client.V1Volume(name="item", config_map=client.V1ConfigMapVolumeSource(name=name))
    pod = client.V1PodSpec(restart_policy="Never", containers=[make_container(image)], volumes=[volume])
    return client.V1Job(
        metadata=client.V1ObjectMeta(name=name, labels=SELECTOR, annotations={ITEM: item}),
        spec=client.V1JobSpec(
            template=client.V1PodTemplateSpec(metadata=client.V1ObjectMeta(labels=SELECTOR), spec=pod)
        ),
    )


def update_queue(source: str, api: client.ApiClient, namespace: str, image: str) -> None:
    """One round: a Job for every item that has none."""
    batch, core = client.BatchV1Api(api), client.CoreV1Api(api)
    label = ",".join(f"{key}={value}" for key, value in SELECTOR.items())
    jobs = batch.list_namespaced_job(namespace, label_selector=label).items
    known = {job.metadata.annotations[ITEM] for job in jobs}
    for item in listed(source):
        if item in known:
            continue
        name = f"plain-{hashlib.sha256(item.encode(errors='surrogatepass')).hexdigest()[:20]}"
        holder = client.V1ConfigMap(
            metadata=client.V1ObjectMeta(name=name), data={"data.json": json.dumps(data_of(source, item))}
        )
        core.create_namespaced_config_map(namespace, holder)
        batch.create_namespaced_job(namespace, make_job(name, item, image))
