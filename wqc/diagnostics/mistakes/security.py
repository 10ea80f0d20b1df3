"""WQ7xx: what would let an attacker in, or give a secret away."""

from collections.abc import Sequence

from wqc.diagnostics.finding import Label, Level
from wqc.diagnostics.mistake import Words, mistake
from wqc.diagnostics.source import Span

_MANAGER = 'manager { image = "example.com/wqc-runtime:1" }\n'
_HEAD = (
    "workflow w\n"
    + _MANAGER
    + 'source s: items { items = ["a"] }\n'
    + 'worker k { image = "example.com/k:1", cpu = 1, memory = 1Gi, takes = 10s }\n'
)
_QUEUE = _HEAD + "queue q { from = s, worker = k }\n"
_GIT = (
    "workflow w\n"
    + _MANAGER
    + 'source s: git { url = "https://git.example.com/a.git", auth = secret("git", "token"), arrives = 1h }\n'
    + 'worker k { image = "example.com/k:1", cpu = 1, memory = 1Gi, takes = 10s }\n'
    + "queue q { from = s, worker = k }\n"
)


@mistake(
    "WQ701",
    Level.WARNING,
    bad=_QUEUE.replace("k:1", "k:latest"),
    good=_QUEUE.replace("k:1", "k:1.4.2"),
)
def unpinned_image(image: str, tag: str) -> Words:
    """An image without a tag, or with the tag `latest`

    Which image that is changes under the workflow's feet: attempts at the same item run different programs,
    and nobody can say which. A version's tag is better, a digest (`image@sha256:…`) best.
    """
    said = "has the tag `latest`" if tag else "has no tag, which means `latest`"
    return Words(
        f"the image `{image}` {said}", help="name a version: a tag such as `:1.4.2`, or a digest `@sha256:…`"
    )


@mistake(
    "WQ702",
    Level.WARNING,
    bad=_QUEUE.replace("worker = k", 'worker = k, env = { DB_PASSWORD = "hunter2" }'),
    good=_QUEUE.replace("worker = k", 'worker = k, env = { DB_PASSWORD = secret("db", "password") }'),
)
def literal_secret(what: str, advice: str) -> Words:
    """A literal that looks like a secret

    What a `.wq` file says stands in git, in the output and in every pod's description. A Secret of the
    namespace is read only by the pods that need it.
    """
    return Words(f"this looks like {what}", help=advice)


@mistake(
    "WQ703",
    Level.ERROR,
    bad=_QUEUE.replace("takes = 10s", "takes = 10s, pod = { hostNetwork = true }"),
    good=_QUEUE,
)
def below_profile(what: str, met: str, stated: str, advice: str) -> Words:
    """A pod below the security profile that it states

    Pods meet the Pod Security Standard *restricted* unless their block says `profile = baseline` or
    `privileged` (https://kubernetes.io/docs/concepts/security/pod-security-standards/). A namespace that
    enforces a profile refuses pods below it. Saying a lower one here is a warning; going below the one that
    is said is an error.
    """
    return Words(f"{what} is below the profile `{stated}`", label=f"this takes `{met}`", help=advice)


@mistake(
    "WQ704",
    Level.WARNING,
    bad=_QUEUE.replace("takes = 10s", "takes = 10s, profile = baseline, user = 0"),
    good=_QUEUE,
)
def lowered_profile(block: str, profile: str, uses: Sequence[Label]) -> Words:
    """A pod that isn't restricted

    Less than *restricted* is sometimes needed, and always worth a second look: what breaks out of such a
    container can do more.
    """
    return Words(
        f"the pods of `{block}` are allowed the profile `{profile}`",
        also=tuple(uses),
        help="say why, where this is what is meant: `# wqc: allow WQ704: …`",
    )


@mistake(
    "WQ705",
    Level.WARNING,
    bad=_QUEUE.replace("takes = 10s", "takes = 10s, profile = privileged"),
    good=_QUEUE,
)
def needless_profile(profile: str, enough: str) -> Words:
    """A lower profile than is needed

    Only what stands in the block can need the profile *privileged*, and nothing there does.
    """
    return Words(
        f"nothing in this block needs the profile `{profile}`",
        help=f"`profile = {enough}` is enough, if the image can't do with `restricted`",
    )


@mistake(
    "WQ706",
    Level.WARNING,
    bad=_GIT.replace("https:", "http:"),
    good=_GIT,
)
def credentials_in_clear(address: str, declared: Span, fix: str) -> Words:
    """Credentials that are sent without encryption

    Whoever is on the way between the pod and a service outside the cluster can read them. Services of the
    cluster itself (names without a dot, and `*.svc`) aren't reported.
    """
    return Words(
        f"credentials are sent to {address} without encryption",
        also=(Label(declared, "these"),),
        help=fix,
    )


@mistake(
    "WQ707",
    Level.NOTE,
    bad=_QUEUE.replace("takes = 10s", "takes = 10s, writable_root = true"),
    good=_QUEUE,
)
def writable_root(block: str) -> Words:
    """A container that may write to its own image's files

    The profile *restricted* allows it, but what an attacker writes there may be run. There are `/tmp` and
    $WORK_SCRATCH to write to.
    """
    return Words(
        f"the container of `{block}` may write to its own image's files",
        help="write to `/tmp` or $WORK_SCRATCH, and remove `writable_root`, if the program can be told to",
    )


@mistake(
    "WQ708",
    Level.WARNING,
    bad=_QUEUE.replace("takes = 10s", "takes = 10s, pod = { automountServiceAccountToken = true }"),
    good=_QUEUE,
)
def token_mounted(block: str) -> Words:
    """Containers that get a token of the API server

    Workers and ambassadors handle foreign data and ask nothing of the API server. A token in their pods lets
    whoever takes one over do all that its service account may. Clouds' own identities for pods
    (`serviceAccountName` and a projected token) don't need it.
    """
    return Words(
        f"all containers of `{block}` get a token of the API server",
        help="remove it: only the manager asks the API server, and its container has a token of its own",
    )
