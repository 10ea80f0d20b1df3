"""Which cluster: the one that kubectl speaks to here, as client-go's tools/clientcmd has it.

The files that $KUBECONFIG names, else ~/.kube/config; in a pod without either its own cluster.
"""

import os
from pathlib import Path

import yaml
from kubernetes import config
from kubernetes.client import ApiClient, Configuration

from wqc.runtime.stores.kubernetes.transport import Transport

KUBECONFIG = "~/.kube/config"
NAMESPACE_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"


class NoCluster(Exception):
    """Neither is this a pod, nor is there a usable kubeconfig."""


def connect() -> tuple[Transport, str]:
    """A way to the API server, and the namespace to work in. Raises NoCluster."""
    settings = Configuration()
    settings.connection_pool_maxsize = 32
    named = os.environ.get("KUBECONFIG", "")
    files = named or KUBECONFIG
    try:
        if not named and not os.path.exists(os.path.expanduser(files)):  # a user without a home has none
            namespace = _of_this_pod(settings)
        else:
            config.load_kube_config(files, client_configuration=settings)  # type: ignore[no-untyped-call]
            _, context = config.list_kube_config_contexts(files)  # type: ignore[no-untyped-call]
            namespace = context["context"].get("namespace", "default")
    except (config.ConfigException, yaml.YAMLError, OSError) as error:
        why = " ".join(str(error).split()).rstrip(".")
        raise NoCluster(f"no cluster is known here: {files}: {why}") from None
    return Transport(ApiClient(settings)), namespace


def _of_this_pod(settings: Configuration) -> str:
    """Its namespace. Raises NoCluster."""
    try:
        config.load_incluster_config(settings)  # type: ignore[no-untyped-call]
        return Path(NAMESPACE_FILE).read_text().strip()
    except (config.ConfigException, OSError) as error:
        why = " ".join(str(error).split()).rstrip(".")
        raise NoCluster(
            f"no cluster is known here: there is no {KUBECONFIG}, and this is no pod: {why}"
        ) from None
