"""WQ60x, WQ61x, WQ66x: objects, what they are named, and what all of them take."""

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

_LONG = 'param a = "echo hello\\n"\n' + "".join(
    f'param {name} = "{f"${{{inner}}}" * 8}"\n' for inner, name in zip("abcde", "bcdef", strict=True)
)
_PIPELINE = (
    'worker x { image = "example.com/x:1", cpu = 1, memory = 1Gi, takes = 10s, SCRIPT }\n'
    "worker y { pipeline = [x, x] }\n"
    "queue q { from = s, worker = y }\n"
)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


@mistake(
    "WQ601",
    Level.ERROR,
    bad=_QUEUE.replace("queue q", "queue " + "thumbnails_of_the_films_on_the_old_share"),
    good=_QUEUE.replace("queue q", "queue thumbnails_of_old_films"),
    blocking=True,
)
def name_too_long(derived: str, limit: int, why: str, workflow: Span) -> Words:
    """A name too long for what is derived from it

    Objects are named after the workflow and the node. A Job's name becomes a label of its pods, and a label
    holds 63 characters, of which the names of items and attempts take their part.
    """
    over = len(derived) - limit
    return Words(
        f"`{derived}` is {_count(over, 'character')} too long",
        label=f"{len(derived)} characters with the workflow's name, and {limit} fit",
        also=(Label(workflow, "the workflow's name comes first"),),
        help=f"shorten either name by {_count(over, 'character')}: {why}",
    )


@mistake(
    "WQ602",
    Level.ERROR,
    bad=_QUEUE.replace(
        "workflow w", "workflow " + "thumbnails_of_all_the_films_on_all_of_our_old_shares_in_the_cellar"
    ),
    good=_QUEUE.replace("workflow w", "workflow cellar"),
    blocking=True,
)
def workflow_name_too_long(derived: str, limit: int) -> Words:
    """A workflow's name that leaves no room for its nodes'

    All objects of a workflow are named after it, and so are Jobs, whose names hold 63 characters.
    """
    over = len(derived) - limit
    return Words(
        f"`{derived}` is {_count(over, 'character')} too long",
        label="all objects of the workflow begin with this",
        help="shorten the workflow's name: with those of its queues it may have 38 characters",
    )


@mistake(
    "WQ603",
    Level.ERROR,
    bad=_QUEUE.replace("from = s", "from = r")
    + "sharder r { from = s, key = item.name, shards = [a, "
    + "the_shard_of_all_customers_whose_names_begin_with_a_letter_after_m"
    + "] }\n",
    good=_QUEUE,
    blocking=True,
)
def part_name_too_long(name: str, limit: int, why: str) -> Words:
    """A name too long for a label or a container

    A queue that reads a bundle has a lane for each member, and labels its Jobs with the member's name. The
    steps of a pipeline and the ambassadors beside the manager give their names to containers.
    """
    over = len(name) - limit
    return Words(
        f"`{name}` is {_count(over, 'character')} too long",
        help=f"shorten it to {limit} characters: {why}",
    )


@mistake(
    "WQ604",
    Level.ERROR,
    bad=_QUEUE.replace("queue q", "queue manager"),
    good=_QUEUE,
    blocking=True,
)
def same_object(kind: str, name: str, workflow: Span) -> Words:
    """Two objects of one kind and name

    The objects of a node are named `<workflow>-<node>`, those of the workflow itself `<workflow>-manager`
    and `<workflow>-state`. The second of two with the same kind and name would replace the first.
    """
    return Words(
        f"two objects would be {kind} `{name}`",
        label="this node's",
        also=(Label(workflow, "and the workflow's own"),),
        help="rename the node",
    )


@mistake(
    "WQ605",
    Level.ERROR,
    bad=_LONG + _HEAD + _PIPELINE.replace("SCRIPT", "run = f"),
    good=_HEAD + _PIPELINE.replace("SCRIPT", 'command = ["/scripts/make"]'),
    blocking=True,
)
def config_map_too_large(name: str, size: int, limit: int) -> Words:
    """A ConfigMap over 1 MiB

    What a node is made of, its scripts, its literal items, its environment, travels in a ConfigMap, and
    those hold 1 MiB.
    """
    return Words(
        f"the ConfigMap `{name}` would have {size:,} bytes, and {limit:,} fit",
        help="move the text to the image, to a volume, or to a source that it is read from",
    )


@mistake(
    "WQ610",
    Level.ERROR,
    bad=_QUEUE.replace("worker = k", "worker = k, parallelism = 8") + "budget { cpu = 4 }\n",
    good=_QUEUE.replace("worker = k", "worker = k, parallelism = 3") + "budget { cpu = 4 }\n",
)
def over_budget(
    what: str, needed: str, budget: str, arithmetic: Sequence[str], largest: Sequence[Label], advice: str
) -> Words:
    """More CPU, memory or pods at the peak than the budget has

    At the peak every queue runs its greatest parallelism in each of its lanes, beside the batches and the
    manager's pod. A pod's request is the greatest of its steps', since they run one after the other.
    """
    return Words(
        f"the peak takes {needed} {what}, and the budget has {budget}",
        also=tuple(largest),
        help="\n".join((*arithmetic, advice)),
    )


@mistake(
    "WQ611",
    Level.NOTE,
    bad=_QUEUE.replace(", memory = 1Gi", ""),
    good=_QUEUE,
)
def no_request(name: str, missing: Sequence[str], in_budget: Sequence[str]) -> Words:
    """A worker that requests no CPU or no memory

    wqc invents no requests. Without them the scheduler places any number of pods on a node, the peak can't
    be compared with the budget, and a namespace with a quota refuses the pods unless its LimitRange says
    what they get.
    """
    lines = [f"add {' and '.join(f'`{each} = …`' for each in missing)}: what one item takes"]
    if in_budget:
        lines.append(
            f"the budget limits {' and '.join(in_budget)}: its peak is counted without this worker, and\n"
            "a quota refuses pods without a request unless a LimitRange of the namespace gives them one"
        )
    return Words(f"`{name}` requests no {' and no '.join(missing)}", help="\n".join(lines))


@mistake(
    "WQ660",
    Level.NOTE,
    bad=_QUEUE.replace(_MANAGER, ""),
    good=_QUEUE,
)
def no_runtime_image(written: str) -> Words:
    """No runtime image is set

    The manager and its ambassadors run in an image that you make once from wqc's `Containerfile` and keep
    in a registry of yours. Until it is set, the output names an image that no registry has.
    """
    return Words(
        f"the runtime image isn't set, so the output says `{written}`",
        help=f"make it with `docker build -f Containerfile -t REGISTRY/{written} .`, push it, and say\n"
        f'`manager {{ image = "REGISTRY/{written}" }}` or build with `--image`',
    )
