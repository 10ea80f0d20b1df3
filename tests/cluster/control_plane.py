"""etcd and kube-apiserver on loopback: the first tier of the clusters that the tests bring up."""

import os
import secrets
import shutil
import ssl
import urllib.error
import urllib.request
from pathlib import Path

import trustme
import yaml

from cluster import audit
from cluster.processes import Processes
from support.gobuild import API_SERVER, linked
from support.ports import free_port

SERVICES = "10.96.0.0/16"
NAMES = ("10.96.0.1", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


def binaries(folder: Path) -> tuple[Path, Path]:
    """etcd and kube-apiserver: $KUBEBUILDER_ASSETS', else links in `folder` to the one that is built."""
    if assets := os.environ.get("KUBEBUILDER_ASSETS"):
        return Path(assets, "etcd"), Path(assets, "kube-apiserver")
    return linked(API_SERVER, folder, "etcd"), linked(API_SERVER, folder, "kube-apiserver")


class ControlPlane:
    """An API server whose state, logs, keys and kubeconfig are in `folder`; its one user may do all.

    It listens on `address`: this machine's, or one in a network namespace, where `prefix` runs a command.
    """

    def __init__(self, folder: Path, address: str = "127.0.0.1", prefix: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.address = address
        self.processes = Processes(folder / "logs", prefix)
        self.etcd, self.apiserver = binaries(folder / "bin")
        self.token = secrets.token_hex(16)
        self.port = free_port()
        self.kubeconfig = folder / "kubeconfig"

    @property
    def url(self) -> str:
        return f"https://{self.address}:{self.port}"

    @property
    def audit_log(self) -> Path:
        """What service accounts asked for; read by audit.py."""
        return self.folder / "logs" / "audit.log"

    def start(self) -> None:
        self._write_keys()
        self._write_kubeconfig()
        client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        self.processes.start(
            "etcd",
            self.etcd,
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
        )
        pki = self.folder / "pki"
        self.processes.start(
            "kube-apiserver",
            self.apiserver,
            f"--etcd-servers={client}",
            f"--bind-address={self.address}",
            f"--advertise-address={self.address}",
            # pods find the server by its endpoints, which may not be loopback; nothing on loopback has pods
            f"--endpoint-reconciler-type={'none' if self.address.startswith('127.') else 'lease'}",
            f"--secure-port={self.port}",
            f"--service-cluster-ip-range={SERVICES}",
            f"--cert-dir={pki}",
            f"--tls-cert-file={pki / 'server.crt'}",
            f"--tls-private-key-file={pki / 'server.key'}",
            f"--token-auth-file={pki / 'tokens.csv'}",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={pki / 'server.key'}",
            f"--service-account-signing-key-file={pki / 'server.key'}",
            "--kubelet-preferred-address-types=InternalIP",
            f"--audit-policy-file={self._audit_policy()}",
            f"--audit-log-path={self.audit_log}",
            # each line is there once the request is answered
            "--audit-log-mode=blocking",
        )
        self.processes.wait_until("kube-apiserver", self._ready)

    def stop(self) -> None:
        self.processes.kill_all()
        shutil.rmtree(self.folder / "etcd", ignore_errors=True)

    def _write_keys(self) -> None:
        pki = self.folder / "pki"
        pki.mkdir(parents=True, exist_ok=True)
        authority = trustme.CA()
        server = authority.issue_cert(*NAMES, self.address)
        authority.cert_pem.write_to_path(pki / "ca.crt")
        server.private_key_pem.write_to_path(pki / "server.key")
        (pki / "server.crt").write_bytes(b"".join(blob.bytes() for blob in server.cert_chain_pems))
        (pki / "tokens.csv").write_text(f"{self.token},admin,admin,system:masters\n")

    def _write_kubeconfig(self) -> None:
        cluster = {"server": self.url, "certificate-authority": str(self.folder / "pki" / "ca.crt")}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": self.token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
            "current-context": "test",
        }
        self.kubeconfig.write_text(yaml.safe_dump(config))

    def _audit_policy(self) -> Path:
        path = self.folder / "audit.yaml"
        path.write_text(audit.POLICY)
        return path

    def _ready(self) -> bool:
        request = urllib.request.Request(
            f"{self.url}/readyz", headers={"Authorization": f"Bearer {self.token}"}
        )
        trust = ssl.create_default_context(cafile=str(self.folder / "pki" / "ca.crt"))
        try:
            with urllib.request.urlopen(request, context=trust, timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False
