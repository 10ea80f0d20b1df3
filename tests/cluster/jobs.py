"""What became of a Job of one pod with a container named `worker`, in the namespace `default`."""

import time

from cluster.client import Client


def ended_job(client: Client, name: str) -> dict:
    until = time.monotonic() + 90
    while time.monotonic() < until:
        job = client.request("GET", f"/apis/batch/v1/namespaces/default/jobs/{name}").body
        if any(each["type"] in ("Complete", "Failed") for each in job["status"].get("conditions", [])):
            return job
        time.sleep(0.3)
    raise AssertionError(f"{name} has not ended: {job['status']}")


def pod_log(client: Client, job: str) -> str:
    selected = {"labelSelector": f"batch.kubernetes.io/job-name={job}"}
    (pod,) = client.request("GET", "/api/v1/namespaces/default/pods", **selected).body["items"]
    return client.text(f"/api/v1/namespaces/default/pods/{pod['metadata']['name']}/log", container="worker")
