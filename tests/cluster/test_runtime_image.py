"""The runtime image in a pod as strict as those of the compiler: what needs a program of its own works."""

from cluster.client import Client
from cluster.jobs import ended_job, pod_log
from cluster.real_node import RealNode
from cluster.runtime_image import NAME

SCRIPT = """
import asyncio, os, ssl, subprocess, sys
from wqc.runtime.sources.git import GitSource, Repository

assert os.getuid() == 10001
try:
    open("/somewhere", "w")
except OSError as error:
    print("root:", error.strerror)
ssl.create_default_context()
def git(*arguments):
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", "-C", "/tmp/r", *arguments], check=True)
os.mkdir("/tmp/r")
git("init", "--quiet", "--initial-branch=main")
git("commit", "--quiet", "--allow-empty", "--message=first")
listing = asyncio.run(GitSource(Repository("file:///tmp/r")).list())
print("commits:", len(listing.versions))
subprocess.run(["wqc-runtime", "seed", "/etc/passwd", "/tmp/1.json"], check=True)
print("seeded:", oct(os.stat("/tmp/1.json").st_mode & 0o777))
"""


def test_what_it_needs_is_in_it(runtime_node: RealNode) -> None:
    client = Client(runtime_node.kubeconfig)
    pod = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": "worker",
                "image": NAME,
                "command": ["python", "-c", SCRIPT],
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                    "readOnlyRootFilesystem": True,
                },
                "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
            }
        ],
        "volumes": [{"name": "tmp", "emptyDir": {}}],
    }
    manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "runtime-image"}}
    manifest["spec"] = {"backoffLimit": 0, "template": {"spec": pod}}
    assert client.create(manifest).status == 201
    job = ended_job(client, "runtime-image")
    log = pod_log(client, "runtime-image")
    assert job["status"].get("succeeded") == 1, log
    assert log.splitlines() == ["root: Read-only file system", "commits: 1", "seeded: 0o664"]
