"""kube-controller-manager and kube-scheduler beside an API server: Jobs get pods, pods get nodes."""

from cluster.control_plane import ControlPlane
from support.gobuild import NODE, linked

# Measured with simulated nodes on 2 cores: 45 one-pod Jobs/s with these, 3.4 with the defaults.
TUNED = ("--kube-api-qps=300", "--kube-api-burst=600", "--concurrent-job-syncs=20")


def start_controllers(control_plane: ControlPlane, *flags: str) -> None:
    """`flags` are kube-controller-manager's, such as TUNED; without any it is as real clusters have it."""
    folder, config = control_plane.folder, f"--kubeconfig={control_plane.kubeconfig}"
    keys = folder / "pki"
    common = ("--leader-elect=false", f"--cert-dir={keys}", "--secure-port=0")
    control_plane.processes.start(
        "kube-controller-manager",
        linked(NODE, folder / "bin", "kube-controller-manager"),
        config,
        *common,
        f"--service-account-private-key-file={keys / 'server.key'}",
        f"--root-ca-file={keys / 'ca.crt'}",
        # one client, and one budget of 20 requests a second, for each controller, as real clusters have it
        "--use-service-account-credentials=true",
        *flags,
    )
    control_plane.processes.start(
        "kube-scheduler", linked(NODE, folder / "bin", "kube-scheduler"), config, *common
    )
