"""WQ62x, WQ65x: raw fields of `pod`, and what an attempt runs with."""

from collections.abc import Sequence

from wqc.diagnostics.finding import Label, Level
from wqc.diagnostics.mistake import Words, mistake
from wqc.diagnostics.suggestion import did_you_mean

_HEAD = (
    "workflow w\n"
    + 'manager { image = "example.com/wqc-runtime:1" }\n'
    + 'source s: items { items = ["a"] }\n'
    + 'worker k { image = "example.com/k:1", cpu = 1, memory = 1Gi, takes = 10s }\n'
)
_QUEUE = _HEAD + "queue q { from = s, worker = k }\n"


@mistake(
    "WQ620",
    Level.ERROR,
    bad=_HEAD.replace("takes = 10s", "takes = 10s, pod = { priorityClas = 1 }")
    + "queue q { from = s, worker = k }\n",
    good=_HEAD.replace("takes = 10s", 'takes = 10s, pod = { priorityClassName = "low" }')
    + "queue q { from = s, worker = k }\n",
)
def unknown_pod_field(path: str, field: str, known: Sequence[str], version: str, since: str) -> Words:
    """A field of `pod` that the version of Kubernetes doesn't have

    `pod` holds raw fields of a PodSpec. They are checked against the schema of the version that the build
    is for (`--kubernetes-version`), since the API server drops or refuses those that it doesn't know.
    """
    advice = did_you_mean(field, known)
    if since:
        advice = (
            f"Kubernetes {since} has it: build with `--kubernetes-version {since}` if that is the cluster's"
        )
    return Words(f"a pod has no field `{path}` in Kubernetes {version}", help=advice)


@mistake(
    "WQ621",
    Level.ERROR,
    bad=_HEAD.replace("takes = 10s", 'takes = 10s, pod = { terminationGracePeriodSeconds = "60" }')
    + "queue q { from = s, worker = k }\n",
    good=_HEAD.replace("takes = 10s", "takes = 10s, pod = { terminationGracePeriodSeconds = 60 }")
    + "queue q { from = s, worker = k }\n",
    blocking=True,
)
def wrong_pod_type(path: str, expected: str, found: str, fix: str) -> Words:
    """A field of `pod` with a value of another type than Kubernetes takes"""
    return Words(f"`{path}` takes {expected}, not {found}", help=fix)


@mistake(
    "WQ622",
    Level.ERROR,
    bad=_HEAD.replace("takes = 10s", 'takes = 10s, pod = { hostAliases = [{ hostnames = ["db"] }] }')
    + "queue q { from = s, worker = k }\n",
    good=_HEAD.replace(
        "takes = 10s", 'takes = 10s, pod = { hostAliases = [{ ip = "10.0.0.1", hostnames = ["db"] }] }'
    )
    + "queue q { from = s, worker = k }\n",
)
def missing_pod_field(path: str, field: str, expected: str) -> Words:
    """A field of `pod` without something that Kubernetes requires in it"""
    return Words(f"`{path}` needs `{field}`", help=f"add `{field} = …`, {expected}")


@mistake(
    "WQ623",
    Level.ERROR,
    bad=_HEAD.replace("takes = 10s", "takes = 10s, pod = { activeDeadlineSeconds = 600 }")
    + "queue q { from = s, worker = k }\n",
    good=_HEAD + "queue q { from = s, worker = k, timeout = 10m }\n",
    blocking=True,
)
def reserved_pod_field(field: str, instead: str) -> Words:
    """A field of `pod` that wqc sets itself

    The manager relies on some fields of the pods that it starts, so that no item is lost or worked on twice.
    """
    return Words(f"wqc sets `{field}` itself", help=instead)


@mistake(
    "WQ650",
    Level.WARNING,
    bad=_QUEUE.replace("worker = k", "worker = k, timeout = 5s"),
    good=_QUEUE.replace("worker = k", "worker = k, timeout = 1m"),
)
def timeout_too_short(timeout: str, takes: str, mean: Label) -> Words:
    """A timeout shorter than the mean item takes

    An attempt that takes longer than `timeout` is ended and counts as failed.
    """
    return Words(
        f"attempts are ended after {timeout}, and the mean item takes {takes}",
        also=(mean,),
        help=f"set `timeout` well above {takes}, or correct `takes`",
    )


@mistake(
    "WQ651",
    Level.ERROR,
    bad=_QUEUE.replace("worker = k", 'worker = k, env = { WORK_ITEM_FILE = "/x" }'),
    good=_QUEUE.replace("worker = k", 'worker = k, env = { ITEM_COPY = "/x" }'),
    blocking=True,
)
def reserved_variable(name: str) -> Words:
    """An environment variable that wqc sets itself"""
    return Words(f"wqc sets `{name}` itself", help="name the variable otherwise")


@mistake(
    "WQ652",
    Level.ERROR,
    bad=_QUEUE.replace("takes = 10s", 'takes = 10s, mounts = { "/wqc" = pvc("big") }'),
    good=_QUEUE.replace("takes = 10s", 'takes = 10s, mounts = { "/data" = pvc("big") }'),
    blocking=True,
)
def reserved_mount(path: str) -> Words:
    """A volume at a path that wqc uses itself

    The item's files are below `/wqc`, and the result is written to `/dev/termination-log`.
    """
    return Words(f"`{path}` is where wqc puts the item's files", help="mount the volume at another path")
