"""Which cluster: the one that this pod runs in, else the one that the kubeconfig names."""

from pathlib import Path

import yaml
from kubernetes import config
from kubernetes.client import ApiClient, Configuration

from wqc.runtime.stores.kubernetes.transport import Transport

NAMESPACE_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"


class NoCluster(Exception):
    """Neither is this a pod, nor is there a usable kubeconfig."""


def connect() -> tuple[Transport, str]:
    """A way to the API server, and the namespace to work in. Raises NoCluster."""
    settings = Configuration()
    settings.connection_pool_maxsize = 32
    try:
        config.load_incluster_config(settings)  # type: ignore[no-untyped-call]
        return Transport(ApiClient(settings)), Path(NAMESPACE_FILE).read_text().strip()
    except (config.ConfigException, OSError) as outside:
        try:
            config.load_kube_config(client_configuration=settings)  # type: ignore[no-untyped-call]
            _, context = config.list_kube_config_contexts()  # type: ignore[no-untyped-call]
        except (config.ConfigException, yaml.YAMLError, OSError) as error:
            whys = (" ".join(str(each).split()).rstrip(".") for each in (error, outside))
            raise NoCluster("no cluster is known here: {}, and this is no pod: {}".format(*whys)) from None
    return Transport(ApiClient(settings)), context["context"].get("namespace", "default")
