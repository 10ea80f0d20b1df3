"""WQ4xx: streams that nobody reads, that too many read, or that lead nowhere."""

from collections.abc import Sequence

from wqc.diagnostics.finding import Label, Level
from wqc.diagnostics.mistake import Words, mistake
from wqc.diagnostics.source import Span
from wqc.diagnostics.wording import both_ends, listed, path_of

_HEAD = """\
workflow w
manager { image = "example.com/wqc-runtime:1" }
source s: items { items = ["a"] }
worker k { image = "example.com/k:1", cpu = 1, memory = 1Gi, takes = 10s }
"""
_QUEUE = _HEAD + "queue q { from = s, worker = k }\n"
_TWO = _HEAD + 'source t: items { items = ["b"] }\n'
_SHARDS = _HEAD + "sharder z { from = s, key = item.name, shards = [a, b] }\n"
_LOCK = """\
#: wqc.lock.json
{"format_version": 1, "written_by": "wqc 1", "workflow": "w", "queues": ["p"], "files": {}}
"""
_LOCK_NEVER = _LOCK.replace('["p"]', '["q"], "rework": {"q": "never"}')


@mistake(
    "WQ401",
    Level.ERROR,
    bad=_HEAD + "merger m { from = [s, q] }\nqueue q { from = m, worker = k }\n",
    good=_HEAD + "queue q { from = s, worker = k }\n",
    blocking=True,
)
def cycle(path: Sequence[str], places: Sequence[Label]) -> Words:
    """Nodes that read each other in a circle

    Items flow from the sources onward and never come back: an item that did would be a new item each time
    round. A queue repeats by itself what fails (`retries`).
    """
    return Words(
        f"items would go round in a cycle: {path_of(path)}",
        label=places[0].text,
        also=both_ends(places[1:]),
        help="let one of these read something else; a queue repeats what fails by itself (`retries`)",
    )


@mistake(
    "WQ402",
    Level.ERROR,
    bad=_QUEUE + "queue r { from = s, worker = k }\n",
    good=_HEAD
    + "copier s_copies { from = s }\n"
    + "queue q { from = s_copies, worker = k }\nqueue r { from = s_copies, worker = k }\n",
)
def several_readers(
    stream: str,
    readers: Sequence[str],
    blocks: Sequence[str],
    then: Sequence[tuple[str, str]],
    others: Sequence[Label],
) -> Words:
    """A stream with two readers and no copier

    An item has one holder at a time, so a stream has one reader. A copier lets each of its own readers have
    every item. A bundle that is read whole gives away its members, and a queue that is read whole its
    lanes.
    """
    if len(set(readers)) == 1:
        return Words(
            f"`{readers[0]}` reads `{stream}` twice",
            also=tuple(others),
            help="take it out of the list once",
        )
    return Words(
        f"`{stream}` has {len(set(readers))} readers and no copier: {listed(tuple(dict.fromkeys(readers)))}",
        also=tuple(others),
        help="\n".join(("a copier lets each of them have every item:", *blocks, _then(then))),
    )


@mistake(
    "WQ403",
    Level.ERROR,
    bad=_QUEUE + 'source t: items { items = ["b"] }\n',
    good=_QUEUE,
)
def unread_stream(streams: Sequence[str], hint: str) -> Words:
    """A stream that nobody reads

    Its items would wait for ever. Only what a queue has finished, and what failed in a node (`.failed`),
    may stay unread.
    """
    return Words(f"nothing reads {listed(streams, 'or')}", help=hint)


@mistake(
    "WQ404",
    Level.ERROR,
    bad=_QUEUE + "queue a { from = b, worker = k }\nqueue b { from = a, worker = k }\n",
    good=_QUEUE + "queue a { from = q, worker = k }\nqueue b { from = a, worker = k }\n",
    blocking=True,
)
def no_source(nodes: Sequence[str], path: Sequence[str], places: Sequence[Label]) -> Words:
    """Nodes that no source reaches

    Every item comes from a source. These nodes read only each other, and so no item ever gets to them nor
    to what follows.
    """
    return Words(
        f"no source reaches {listed(nodes)}: the cycle {path_of(path)} has no way in",
        label=places[0].text,
        also=both_ends(places[1:]),
        help="let one of these read a source, or what follows one",
    )


@mistake(
    "WQ405",
    Level.WARNING,
    bad=_HEAD + "merger m { from = [s] }\nqueue q { from = m, worker = k }\n",
    good=_QUEUE,
)
def merger_of_one(stream: str) -> Words:
    """A merger of one input

    It merges nothing, and only renames the items (to `input:name`). The whole output of a queue with lanes
    is one stream too.
    """
    return Words(
        f"this merger has a single input, `{stream}`", help=f"read `{stream}` where the merger is read"
    )


@mistake(
    "WQ406",
    Level.WARNING,
    bad=_HEAD + "copier c { from = s }\nqueue q { from = c, worker = k }\n",
    good=_QUEUE,
)
def copier_of_one(stream: str, reader: str, read: Span) -> Words:
    """A copier with one reader

    It copies nothing: its reader can have the stream itself.
    """
    return Words(
        f"this copier has a single reader, `{reader}`",
        also=(Label(read, "read here"),),
        help=f"let `{reader}` read `{stream}` itself",
    )


@mistake(
    "WQ407",
    Level.ERROR,
    bad=_SHARDS
    + "sharder y { from = z, key = item.name, shards = [c, d] }\nqueue q { from = y, worker = k }\n",
    good=_SHARDS
    + "merger z_merged { from = z }\nsharder y { from = z_merged, key = item.name, shards = [c, d] }\n"
    + "queue q { from = y, worker = k }\n",
)
def bundle_not_taken(block: str, stream: str, members: Sequence[str], hint: str, declared: Span) -> Words:
    """A bundle where one stream is read

    A sharder makes a bundle of one stream, and a batch works off one message queue. A merger makes one
    stream of a bundle.
    """
    return Words(
        f"a {block} reads one stream, and `{stream}` is a bundle of {len(members)}: {listed(members)}",
        also=(Label(declared, "a bundle"),),
        help=hint,
    )


@mistake(
    "WQ408",
    Level.ERROR,
    bad=_QUEUE + _LOCK,
    good=_QUEUE.replace("worker = k }", 'worker = k, formerly = "p" }') + _LOCK,
)
def dropped_queue(queue: str, hint: str) -> Words:
    """A queue of the previous build that is gone

    What a queue has finished is remembered under its name. If it was renamed, the new one must know
    (`formerly`), or everything that its source still lists would be worked on again; if it was taken out,
    say so (`retired`). The names come from `wqc.lock.json` beside the output.
    """
    return Words(f"the previous build had a queue `{queue}`, and it is gone", help=hint)


@mistake(
    "WQ409",
    Level.ERROR,
    bad=_TWO + 'queue p { from = t, worker = k }\nqueue q { from = s, worker = k, formerly = "p" }\n',
    good=_TWO + 'queue r { from = t, worker = k }\nqueue q { from = s, worker = k, formerly = "p" }\n',
)
def former_name_in_use(name: str, declared: Span) -> Words:
    """A former name that a queue has today

    What `formerly` names is taken over, all that it has finished included, and so can't go on by itself.
    """
    return Words(
        f"`{name}` can't be a former name: there is a queue `{name}`",
        also=(Label(declared, "declared here"),),
        help="rename that queue, or remove `formerly`",
    )


@mistake(
    "WQ410",
    Level.ERROR,
    bad=_TWO
    + 'queue q { from = s, worker = k, formerly = "p" }\nqueue r { from = t, worker = k, formerly = "p" }\n',
    good=_TWO + 'queue q { from = s, worker = k, formerly = "p" }\nqueue r { from = t, worker = k }\n',
)
def former_name_twice(name: str, first: Span) -> Words:
    """Two queues with one former name

    What a queue has finished goes to one successor.
    """
    return Words(
        f"`{name}` is already the former name of another queue",
        also=(Label(first, "first here"),),
        help="only one of them can go on where it stopped; remove the other `formerly`",
    )


@mistake(
    "WQ411",
    Level.ERROR,
    bad=_QUEUE.replace("workflow w", 'workflow w { retired = ["q"] }'),
    good=_QUEUE.replace("workflow w", 'workflow w { retired = ["p"] }'),
)
def retired_in_use(name: str, queue: str, at: Span) -> Words:
    """A retired queue that goes on

    Retired are queues that were taken out; what they finished may be forgotten. One that is declared, or
    that another queue continues (`formerly`), isn't.
    """
    how = f"`{queue}` is declared" if name == queue else f"`{queue}` continues it"
    return Words(
        f"`{name}` is retired and yet {how}",
        also=(Label(at, "here"),),
        help="take it out of `retired`, or take the queue out",
    )


@mistake(
    "WQ412",
    Level.ERROR,
    bad=_HEAD
    + "splitter p { from = s, cases = { a = item.name == 'a' }, share = { a = 0.5 }, otherwise = drop }\n"
    + "merger m { from = [p.a, p.otherwise] }\nqueue q { from = m, worker = k }\n",
    good=_HEAD
    + "splitter p { from = s, cases = { a = item.name == 'a' }, share = { a = 0.5 } }\n"
    + "merger m { from = [p.a, p.otherwise] }\nqueue q { from = m, worker = k }\n",
)
def dropped_items_read(stream: str, dropped: Span) -> Words:
    """A reader of items that are dropped

    `otherwise = drop` forgets the items for which no case holds, and leaves nothing to read.
    """
    return Words(
        f"there is no `{stream}`: its items are dropped",
        also=(Label(dropped, "here"),),
        help="remove `otherwise = drop`, or this reader",
    )


def _then(then: Sequence[tuple[str, str]]) -> str:
    by_stream: dict[str, list[str]] = {}
    for reader, stream in then:
        by_stream.setdefault(stream, []).append(reader)
    parts = [f"`{stream}` in {listed(readers)}" for stream, readers in by_stream.items()]
    return f"and read {', '.join(parts)}"


@mistake(
    "WQ413",
    Level.ERROR,
    bad=_HEAD
    + "sharder h { from = s, key = item.name, shards = [a, b], rollout = { order = [a] } }\n"
    + "queue q { from = h, worker = k }\n",
    good=_HEAD
    + "sharder h { from = s, key = item.name, shards = [a, b], rollout = { order = [a, b] } }\n"
    + "queue q { from = h, worker = k }\n",
)
def incomplete_order(left_out: Sequence[str]) -> Words:
    """A rollout that leaves out a shard

    A shard that stands nowhere in `order` would never get a new worker.
    """
    missing = listed(left_out)
    return Words(f"the rollout never reaches {missing}", help=f"put {missing} into `order`")


@mistake(
    "WQ414",
    Level.WARNING,
    bad=_QUEUE.replace("worker = k }", "worker = k, rework = on_change }") + _LOCK_NEVER,
    good=_QUEUE + _LOCK_NEVER,
)
def changed_rework(queue: str, before: str, now: str) -> Words:
    """A queue whose `rework` has changed since the previous build

    With `on_change` a queue remembers which version of an item it has finished, with `never` only that it
    has finished the item. When a manager finds the change, it looks at what the sources list then. From
    `never` to `on_change`, finished items count as finished in the version that is listed: one that came
    before the change and was passed over stays so. From `on_change` to `never`, items whose listed version
    is finished are finished for good; one whose listed version isn't is worked on once more. What no source
    lists just then is a new item when it comes back. What each queue had stands in `wqc.lock.json` beside
    the output; the next build doesn't warn any more.
    """
    if now == "on_change":
        what = "what it has finished counts as finished in the version that is listed then"
    else:
        what = "items whose listed version it hasn't finished are worked on once more, and then never again"
    return Words(
        f"`{queue}` had `rework = {before}` in the previous build, and has `{now}` now: {what}",
        help=f"if that is wanted, deploy it; else write `rework = {before}`\n"
        f"to work on everything anew, rename `{queue}` and retire the old name",
    )
