"""Jobs on simulated nodes end as their pods' annotations say, through Kubernetes' own controllers."""

import time

from cluster.client import Client


def run_job(client: Client, name: str, **notes: str) -> tuple[dict, dict]:
    """The Job and its pod once the Job has ended."""
    annotations = {f"simulated/{key.replace('_', '-')}": value for key, value in notes.items()}
    pod = {"restartPolicy": "Never", "containers": [{"name": "worker", "image": "test/worker:1"}]}
    template = {"metadata": {"annotations": annotations}, "spec": pod}
    manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}}
    manifest["spec"] = {"backoffLimit": 0, "template": template}
    created = client.create(manifest)
    assert created.status == 201, created
    path = f"/apis/batch/v1/namespaces/default/jobs/{name}"
    until = time.monotonic() + 60
    while time.monotonic() < until:
        job = client.request("GET", path).body
        if any(each["type"] in ("Complete", "Failed") for each in job["status"].get("conditions", [])):
            selected = {"labelSelector": f"batch.kubernetes.io/job-name={name}"}
            (pod,) = client.request("GET", "/api/v1/namespaces/default/pods", **selected).body["items"]
            return job, pod
        time.sleep(0.1)
    raise AssertionError(f"{name} has not ended: {job['status']}")


def ending(pod: dict) -> dict:
    return pod["status"]["containerStatuses"][0]["state"]["terminated"]


def test_a_job_succeeds_with_its_result(simulated_cluster: Client) -> None:
    job, pod = run_job(simulated_cluster, "good", result='{"frames": 7}')
    assert job["status"]["succeeded"] == 1
    assert ending(pod)["exitCode"] == 0
    assert ending(pod)["message"] == '{"frames": 7}'


def test_a_job_fails_with_its_exit_code(simulated_cluster: Client) -> None:
    job, pod = run_job(simulated_cluster, "bad", exit_code="65")
    assert job["status"]["failed"] == 1
    assert ending(pod)["exitCode"] == 65


def test_work_takes_its_time(simulated_cluster: Client) -> None:
    started = time.monotonic()
    run_job(simulated_cluster, "slow", takes="3s")
    assert time.monotonic() - started > 3
