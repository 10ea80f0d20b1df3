"""The book's manager, written anew, makes its Jobs from what our ambassador lists."""

import json
from pathlib import Path

from kubernetes import client as official
from kubernetes import config

from cluster.client import Client
from support.ambassador import ambassador, source_settings
from support.plain_manager import ITEM, update_queue


def test_a_plain_manager_over_our_source(api_server: Client, tmp_path: Path) -> None:
    api_server.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "plain"}})
    api = config.new_client_from_config(str(api_server.kubeconfig))
    items = {"item-1": {"some": "json", "object": "here"}, "a/b ☃": "text", "x": [1, 2]}
    source_settings(tmp_path, "names", "items", items=items)
    with ambassador(["source", "names"], tmp_path) as served:
        for _ in range(2):
            update_queue(served.url, api, "plain", "example.com/worker:1")
    jobs = official.BatchV1Api(api).list_namespaced_job("plain").items
    assert sorted(job.metadata.annotations[ITEM] for job in jobs) == sorted(items)
    core = official.CoreV1Api(api)
    for job in jobs:
        holder = job.spec.template.spec.volumes[0].config_map.name
        text = core.read_namespaced_config_map(holder, "plain").data["data.json"]
        assert json.loads(text) == items[job.metadata.annotations[ITEM]]
