"""What in a pod's raw fields is less than the profile *restricted* of the Pod Security Standards.

https://kubernetes.io/docs/concepts/security/pod-security-standards/, as Kubernetes 1.35 and later enforce it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from wqc.language.written import Step

_BASELINE_CAPABILITIES = frozenset(
    (
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    )
)
_SYSCTLS = frozenset(
    (
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_wmem",
    )
)
_SYSCTLS_SINCE_1_37 = frozenset(("net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat"))
_VOLUMES = frozenset(
    (
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    )
)
_SELINUX_TYPES = ("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")
_CONTAINERS = ("initContainers", "containers")

_DEFAULTS = {"drop": ["ALL"]}

Fact = tuple[str, str, tuple[Step, ...], str]
"""The strictest profile that allows it, what it is (`{}` for its path), its path, and what to do instead."""


def less_than_restricted(pod: Mapping[str, Any], own: frozenset[str], version: str) -> Iterator[Fact]:
    """`own` are the names of containers that wqc makes, which are restricted but for what is said here."""
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.get(field) is True:
            yield "privileged", "{}", (field,), "leave it out"
    own_users = pod.get("hostUsers") is False
    context = _map(pod.get("securityContext"))
    if "securityContext" in pod and pod["securityContext"] is None:
        yield "baseline", "a pod without {}", ("securityContext",), "leave it out"
    for field in ("runAsNonRoot", "seccompProfile"):
        if field in context and context[field] is None and not (own_users and field == "runAsNonRoot"):
            yield "baseline", "a pod without {}", ("securityContext", field), "leave it out"
    yield from _context(context, ("securityContext",), own_users)
    sysctls = _SYSCTLS | (_SYSCTLS_SINCE_1_37 if version == "1.37" else frozenset())
    for index, sysctl in enumerate(_list(context.get("sysctls"))):
        name = _map(sysctl).get("name")
        if isinstance(name, str) and name not in sysctls:
            yield "privileged", f"the sysctl {name}", ("securityContext", "sysctls", index), "leave it out"
    for index, volume in enumerate(_list(pod.get("volumes"))):
        for kind in _map(volume):
            if kind == "hostPath":
                yield (
                    "privileged",
                    "a hostPath volume",
                    ("volumes", index, kind),
                    "use a PersistentVolumeClaim",
                )
            elif kind != "name" and kind not in _VOLUMES:
                yield (
                    "baseline",
                    f"a volume of kind {kind}",
                    ("volumes", index, kind),
                    "use a PersistentVolumeClaim",
                )
    for kind in _CONTAINERS:
        for index, container in enumerate(_list(pod.get(kind))):
            yield from _container(_map(container), (kind, index), own, own_users)


def _context(context: Mapping[str, Any], at: tuple[Step, ...], own_users: bool) -> Iterator[Fact]:
    """What a pod's security context and a container's have in common."""
    if _map(context.get("windowsOptions")).get("hostProcess") is True:
        yield "privileged", "{}", (*at, "windowsOptions", "hostProcess"), "leave it out"
    selinux = _map(context.get("seLinuxOptions"))
    if selinux.get("type", "") not in _SELINUX_TYPES:
        yield "privileged", "{}", (*at, "seLinuxOptions", "type"), "leave it out"
    for field in ("user", "role"):
        if selinux.get(field):
            yield "privileged", "{}", (*at, "seLinuxOptions", field), "leave it out"
    for field in ("seccompProfile", "appArmorProfile"):
        if _map(context.get(field)).get("type") == "Unconfined":
            yield "privileged", "{} = Unconfined", (*at, field, "type"), "leave it out"
    if own_users:
        # In a user namespace of its own, root in the pod is nobody on the node (KEP-127).
        return
    if context.get("runAsNonRoot") is False:
        yield "baseline", "{} = false", (*at, "runAsNonRoot"), "leave it out"
    if context.get("runAsUser") == 0 and context.get("runAsUser") is not False:
        yield "baseline", "running as root", (*at, "runAsUser"), "name another user id"


def _container(
    container: Mapping[str, Any], at: tuple[Step, ...], own: frozenset[str], own_users: bool
) -> Iterator[Fact]:
    where = (*at, "securityContext")
    given = container.get("securityContext", {})
    context = _map(given)
    yield from _context(context, where, own_users)
    yield from _missing(context, at, container.get("name") in own and given is not None)
    if context.get("privileged") is True:
        yield "privileged", "{}", (*where, "privileged"), "leave it out"
    if context.get("procMount", "Default") != "Default":
        yield "baseline" if own_users else "privileged", "{}", (*where, "procMount"), "leave it out"
    capabilities = _map(context.get("capabilities"))
    for index, name in enumerate(_list(capabilities.get("add"))):
        if name != "NET_BIND_SERVICE":
            profile = "baseline" if name in _BASELINE_CAPABILITIES else "privileged"
            yield profile, f"the capability {name}", (*where, "capabilities", "add", index), "leave it out"
    if context.get("allowPrivilegeEscalation") is True:
        yield "baseline", "{}", (*where, "allowPrivilegeEscalation"), "leave it out"
    for index, port in enumerate(_list(container.get("ports"))):
        if _map(port).get("hostPort"):
            yield "privileged", "a port of the host", (*at, "ports", index, "hostPort"), "leave it out"
    yield from _hosts(container, at)


def _missing(context: Mapping[str, Any], at: tuple[Step, ...], own: bool) -> Iterator[Fact]:
    """What *restricted* asks of every container, and wqc writes into its `own`."""
    missing: list[str] = []
    capabilities: Any = context.get("capabilities", _DEFAULTS if own else {})
    dropped = _map(capabilities).get("drop", ["ALL"] if own else [])
    if context.get("allowPrivilegeEscalation", False if own else None) is None:
        missing.append("allowPrivilegeEscalation = false")
    if "ALL" not in _list(dropped):
        missing.append('capabilities = { drop = ["ALL"] }')
    if missing:
        fix = f"say `securityContext = {{ {', '.join(missing)} }}`"
        yield "baseline", "a container that may gain privileges", at, fix


def _hosts(container: Mapping[str, Any], at: tuple[Step, ...]) -> Iterator[Fact]:
    """Probes and hooks that connect to another host than the pod."""
    handlers = [(name,) for name in ("livenessProbe", "readinessProbe", "startupProbe")]
    for path in (*handlers, ("lifecycle", "postStart"), ("lifecycle", "preStop")):
        handler: Any = container
        for step in path:
            handler = _map(handler).get(step)
        for kind in ("httpGet", "tcpSocket"):
            if _map(_map(handler).get(kind)).get("host"):
                yield "privileged", "{}", (*at, *path, kind, "host"), "leave it out"


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
