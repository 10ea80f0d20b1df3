"""WQ2xx: blocks, names and references that don't fit."""

from collections.abc import Sequence

from wqc.diagnostics.finding import Label, Level
from wqc.diagnostics.mistake import Words, declared_at, mistake
from wqc.diagnostics.mistakes.samples import HEAD, QUEUE
from wqc.diagnostics.source import Span
from wqc.diagnostics.suggestion import did_you_mean
from wqc.diagnostics.wording import path_of

_COMPLETE = QUEUE.replace("source s", 'manager { image = "example.com/wqc-runtime:1" }\nsource s').replace(
    'k:1" }', 'k:1", cpu = 1, memory = 1Gi, takes = 10s }'
)
"""Nothing is left to advise."""


@mistake(
    "WQ201",
    Level.ERROR,
    bad=QUEUE.replace("queue q", "que q"),
    good=QUEUE,
    blocking=True,
)
def unknown_block(word: str, known: Sequence[str]) -> Words:
    """A block of a kind that the language doesn't have

    A file is made of `workflow`, `source`, `worker`, `queue` and the pattern nodes; the reference lists all
    of them.
    """
    return Words(f"there is no block `{word}`", help=did_you_mean(word, known))


@mistake(
    "WQ202",
    Level.ERROR,
    bad=QUEUE.replace("s: items", "s: item_list"),
    good=QUEUE,
    blocking=True,
)
def unknown_kind(block: str, word: str, known: Sequence[str]) -> Words:
    """A kind that the block doesn't have

    Sources, batches and carriers come in kinds, written after a colon: `source films: files { … }`.
    """
    return Words(f"there is no kind of {block} named `{word}`", help=did_you_mean(word, known))


@mistake(
    "WQ203",
    Level.ERROR,
    bad=QUEUE.replace("worker = k", "worker = k, paralelism = 4"),
    good=QUEUE.replace("worker = k", "worker = k, parallelism = 4"),
    blocking=True,
)
def unknown_attribute(block: str, word: str, known: Sequence[str], owners: Sequence[str] = ()) -> Words:
    """An attribute that the block doesn't take

    Each block takes a fixed set of attributes; `wqc schema` and the reference list them.
    """
    advice = f"it is an attribute of {', '.join(owners)}" if owners else did_you_mean(word, known)
    return Words(f"{block} has no attribute `{word}`", help=advice)


@mistake(
    "WQ204",
    Level.ERROR,
    bad=QUEUE.replace("worker = k }", "worker = kk }"),
    good=QUEUE,
    blocking=True,
)
def unknown_name(what: str, word: str, known: Sequence[str]) -> Words:
    """A reference to something that isn't declared

    References name a node, one of its outputs (`channel.email`, `thumbs.failed`), a worker or a param of
    the same file, or something of an imported library (`lib.runner`).
    """
    return Words(f"there is no {what} `{word}`", help=did_you_mean(word, known))


@mistake(
    "WQ205",
    Level.ERROR,
    bad=QUEUE + "queue q { from = s, worker = k }\n",
    good=QUEUE + "queue r { from = q, worker = k }\n",
    blocking=True,
)
def duplicate_name(name: str, first: Span) -> Words:
    """Two declarations of one name

    Everything that a file declares shares one set of names, since a name stands for the thing wherever it
    is read.
    """
    return Words(
        f"`{name}` is declared twice",
        also=(Label(first, "first declared here"),),
        help="rename one of the two",
    )


@mistake(
    "WQ207",
    Level.ERROR,
    bad=QUEUE.replace("from = s, ", ""),
    good=QUEUE,
    blocking=True,
)
def missing_attribute(block: str, name: str, doc: str) -> Words:
    """A required attribute is missing"""
    return Words(f"{block} needs `{name}`", help=f"add `{name} = …`: {doc}")


@mistake(
    "WQ216",
    Level.ERROR,
    bad='import "std:nothing" as lib\n' + QUEUE,
    good=QUEUE,
    blocking=True,
)
def unreadable_import(path: str, reason: str) -> Words:
    """An import that can't be read

    Paths are relative to the folder of the file that imports; `std:` names come with wqc.
    """
    return Words(f"cannot import `{path}`: {reason}")


@mistake(
    "WQ217",
    Level.ERROR,
    bad='import "library.wq" as lib\n' + QUEUE + '#: library.wq\nimport "library.wq" as lib\n',
    good=QUEUE,
    blocking=True,
)
def import_cycle(path: Sequence[str]) -> Words:
    """Files that import each other"""
    return Words(
        f"these files import each other: {path_of(path)}", help="move what both need to a third file"
    )


@mistake(
    "WQ218",
    Level.ERROR,
    bad='source s: items { items = ["a"] }\n',
    good=QUEUE,
    blocking=True,
)
def no_workflow() -> Words:
    """A file without a `workflow`

    The workflow's name is the name of the folder that is written and the start of every object's name.
    """
    return Words("this file declares no workflow", help="begin it with `workflow NAME`")


@mistake(
    "WQ219",
    Level.ERROR,
    bad=QUEUE.replace("k { image", "k: generic { image"),
    good='worker generic { image = "example.com/k:1" }\n'
    + QUEUE.replace('k { image = "example.com/k:1" }', "k: generic { takes = 1s }"),
    blocking=True,
)
def unknown_worker(word: str, known: Sequence[str]) -> Words:
    """A worker made from one that isn't declared"""
    return Words(f"there is no worker `{word}`", help=did_you_mean(word, known))


@mistake(
    "WQ220",
    Level.ERROR,
    bad='worker generic(script) { image = "example.com/k:1", run = script }\n'
    + QUEUE.replace('k { image = "example.com/k:1" }', "k: generic { takes = 1s }"),
    good='worker generic(script) { image = "example.com/k:1", run = script }\n'
    + QUEUE.replace('k { image = "example.com/k:1" }', 'k: generic { script = "true" }'),
    blocking=True,
)
def missing_argument(worker: str, name: str, declared: Span) -> Words:
    """A generic worker's parameter without a value"""
    return Words(
        f"`{worker}` needs a value for `{name}`",
        also=declared_at(declared),
        help=f"add `{name} = …` to this block",
    )


@mistake(
    "WQ221",
    Level.ERROR,
    bad='worker generic(script) { image = "example.com/k:1", run = script }\n'
    + HEAD
    + "queue q { from = s, worker = generic }\n",
    good='worker generic(script) { image = "example.com/k:1", run = script }\n'
    + HEAD.replace('k { image = "example.com/k:1" }', 'k: generic { script = "true" }')
    + "queue q { from = s, worker = k }\n",
    blocking=True,
)
def generic_worker_used(name: str, parameters: Sequence[str]) -> Words:
    """A generic worker used without its parameters"""
    given = ", ".join(f"{parameter} = …" for parameter in parameters)
    return Words(
        f"`{name}` is a generic worker",
        help=f"make a worker of it and use that: `worker NAME: {name} {{ {given} }}`",
    )


@mistake(
    "WQ222",
    Level.ERROR,
    bad=QUEUE.replace("queue q", "queue item"),
    good=QUEUE,
    blocking=True,
)
def reserved_name(name: str) -> Words:
    """A name that means something else

    `item`, `param`, `each`, `true`, `false`, `null` and `in` have a meaning in conditions and values.
    """
    return Words(f"`{name}` is reserved", help="choose another name")


@mistake(
    "WQ241",
    Level.ERROR,
    bad=HEAD
    + "sharder h { from = s, key = item.name, shards = [a, failed] }\n"
    + "queue q { from = h, worker = k }\n",
    good=HEAD
    + "sharder h { from = s, key = item.name, shards = [a, b] }\n"
    + "queue q { from = h, worker = k }\n",
    blocking=True,
)
def taken_output(name: str, node: str) -> Words:
    """A case, a shard or a member named like an output that nodes have anyway

    `failed` is the stream of what a node couldn't handle, and `otherwise` what no case of a splitter takes,
    so that `region.failed` would mean two things.
    """
    return Words(f"`{node}.{name}` has a meaning of its own", help="choose another name")


@mistake(
    "WQ223",
    Level.ERROR,
    bad=QUEUE + 'worker { image = "example.com/k:1" }\n',
    good=QUEUE,
    blocking=True,
)
def missing_name(block: str) -> Words:
    """A block without its name"""
    return Words(f"this {block} has no name", help=f"write `{block} NAME {{ … }}`")


@mistake(
    "WQ224",
    Level.ERROR,
    bad="budget b { pods = 9 }\n" + QUEUE,
    good="budget { pods = 9 }\n" + QUEUE,
    blocking=True,
)
def needless_part(block: str, part: str) -> Words:
    """A part of a block's first line that the block doesn't have

    `manager`, `budget` and `cluster` have no name, only sources, batches and carriers have kinds, and only
    workers have parameters.
    """
    return Words(f"`{block}` has no {part}", help=f"remove the {part}")


@mistake(
    "WQ225",
    Level.ERROR,
    bad="workflow v\n" + QUEUE,
    good=QUEUE,
    blocking=True,
)
def second_block(block: str, first: Span) -> Words:
    """A block that a file may have once"""
    advice = "a file for each workflow" if block == "workflow" else "put what both say into one"
    return Words(f"a file has one `{block}`", also=(Label(first, "the first is here"),), help=advice)


@mistake(
    "WQ226",
    Level.ERROR,
    bad=QUEUE.replace("source s: items {", "source s {"),
    good=QUEUE,
    blocking=True,
)
def missing_kind(block: str, name: str, known: Sequence[str]) -> Words:
    """A block without its kind"""
    return Words(
        f"this {block} has no kind",
        help=f"write `{block} {name}: KIND {{ … }}` with one of {', '.join(known)}",
    )


@mistake(
    "WQ227",
    Level.ERROR,
    bad=QUEUE.replace("queue q { from = s, worker = k }", "queue q"),
    good=QUEUE,
    blocking=True,
)
def missing_body(block: str) -> Words:
    """A block without braces"""
    return Words(f"this {block} has no attributes", help="add `{ … }` on the same line")


@mistake(
    "WQ229",
    Level.ERROR,
    bad=QUEUE.replace("from = s", "from = k"),
    good=QUEUE,
    blocking=True,
)
def not_a(what: str, name: str, is_a: str, declared: Span, hint: str = "") -> Words:
    """A name that stands for something else than what is asked for"""
    return Words(f"`{name}` is a {is_a}, not a {what}", also=declared_at(declared), help=hint)


@mistake(
    "WQ230",
    Level.ERROR,
    bad=HEAD + 'worker j { command = ["x"] }\nqueue q { from = s, worker = j }\n',
    good=QUEUE,
    blocking=True,
)
def worker_without_image() -> Words:
    """A worker without an image

    A worker is an `image`, or a `pipeline` of other workers.
    """
    return Words(
        "this worker has no image",
        help="add `image = …`, or `pipeline = [a, b]` to run other workers one by one",
    )


@mistake(
    "WQ232",
    Level.ERROR,
    bad=HEAD
    + "sharder h { from = s, key = item.name, shards = [a, b], rollout = { order = [a, c] } }\n"
    + "queue q { from = h, worker = k }\n",
    good=HEAD
    + "sharder h { from = s, key = item.name, shards = [a, b], rollout = { order = [a, b] } }\n"
    + "queue q { from = h, worker = k }\n",
    blocking=True,
)
def unmatched_entry(what: str, word: str, known: Sequence[str]) -> Words:
    """An entry that belongs to nothing

    `share` names the cases of its splitter, and a rollout's `order` the shards of its sharder.
    """
    return Words(f"there is no {what} `{word}` here", help=did_you_mean(word, known))


@mistake(
    "WQ233",
    Level.ERROR,
    bad=QUEUE.replace("from = s", "from = each"),
    good=QUEUE,
    blocking=True,
)
def each_without_bundle() -> Words:
    """`each` outside of a source that has several members"""
    return Words(
        "`each` stands for a member's value, and there are no members here",
        help="give the source `each = { a = …, b = … }`",
    )


@mistake(
    "WQ234",
    Level.ERROR,
    bad=QUEUE + "queue r { from = q.lane, worker = k }\n",
    good=QUEUE + "queue r { from = q, worker = k }\n",
    blocking=True,
)
def unknown_output(node: str, word: str, known: Sequence[str], declared: Span) -> Words:
    """An output that the node doesn't have"""
    return Words(
        f"`{node}` has no output `{word}`", also=declared_at(declared), help=did_you_mean(word, known)
    )


@mistake(
    "WQ235",
    Level.ERROR,
    bad='import "library.wq" as lib\n' + QUEUE + "#: library.wq\nbudget { pods = 9 }\n",
    good='import "library.wq" as lib\n' + QUEUE + '#: library.wq\nworker j { image = "example.com/j:1" }\n',
    blocking=True,
)
def library_block(block: str) -> Words:
    """A block that a library may not hold

    A library that is imported holds workers, params and imports of its own; what runs is declared by the
    workflow.
    """
    return Words(f"a library has no `{block}`", help="libraries hold `worker`, `param` and `import`")


@mistake(
    "WQ236",
    Level.ERROR,
    bad=QUEUE.replace('worker k { image = "example.com/k:1" }', "worker k: k { takes = 1s }"),
    good=QUEUE,
    blocking=True,
)
def worker_cycle(name: str) -> Words:
    """A worker that is made from itself"""
    return Words(f"`{name}` is made from itself", help="give one of the workers an image of its own")


@mistake(
    "WQ237",
    Level.ERROR,
    bad=HEAD + "splitter p { from = s, cases = { a = item.name == 'a' }, otherwise = drop }\n"
    "queue q { from = p, worker = k }\n",
    good=HEAD + "splitter p { from = s, cases = { a = item.name == 'a' }, otherwise = drop }\n"
    "queue q { from = p.a, worker = k }\n",
    blocking=True,
)
def whole_splitter(name: str, outputs: Sequence[str]) -> Words:
    """A splitter read as a whole

    A splitter has a stream per case, and none of its own.
    """
    return Words(
        f"`{name}` has a stream per case", help="read " + " or ".join(f"`{output}`" for output in outputs)
    )


@mistake(
    "WQ244",
    Level.NOTE,
    bad=_COMPLETE + 'worker spare { image = "example.com/k:1" }\n',
    good=_COMPLETE,
)
def unused(block: str, name: str) -> Words:
    """A worker or a param that nothing mentions

    It changes nothing. It may be left over, or what should mention it may mention something else.
    """
    return Words(f"nothing mentions the {block} `{name}`", help="leave it out if it is left over")
