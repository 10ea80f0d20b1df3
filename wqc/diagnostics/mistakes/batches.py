"""WQ64x: what a batch reads and runs, and when it is done."""

from collections.abc import Sequence

from wqc.diagnostics.finding import Label, Level
from wqc.diagnostics.mistake import Words, mistake
from wqc.diagnostics.source import Span

_BATCH = (
    "workflow w\n"
    + 'manager { image = "example.com/wqc-runtime:1" }\n'
    + 'source s: rabbitmq { brokers = "mq:5672", queue = "jobs" }\n'
    + 'worker k { image = "example.com/k:1", command = ["/k"], cpu = 1, memory = 1Gi, takes = 10s }\n'
    + "batch b: coarse { from = s, worker = k, completions = 8 }\n"
)


@mistake(
    "WQ640",
    Level.ERROR,
    bad=_BATCH.replace(', command = ["/k"]', ""),
    good=_BATCH,
    blocking=True,
)
def batch_without_command(worker: str, reason: str, advice: str, declared: Span) -> Words:
    """A batch whose worker has no command

    A batch's pods run a small program that takes a message, runs the worker's command with it and
    acknowledges it. So the command must be known: an image's own entrypoint isn't, and a pipeline has
    several.
    """
    return Words(
        f"a batch runs its worker's command, and `{worker}` {reason}",
        also=(Label(declared, "declared here"),),
        help=advice,
    )


@mistake(
    "WQ641",
    Level.ERROR,
    bad=_BATCH.replace(", completions = 8", ""),
    good=_BATCH.replace(", completions = 8", "").replace(
        'queue = "jobs"', 'queue = "jobs", management = "http://mq:15672"'
    ),
)
def batch_never_ends(source: str, declared: Span) -> Words:
    """A batch that can't tell when it is done

    Without `completions` a batch ends once the queue is empty. Over AMQP, RabbitMQ says how many messages
    are ready, not how many are being worked on; its management API says both.
    """
    return Words(
        f"nothing tells this batch when the messages of `{source}` are done",
        also=(Label(declared, "RabbitMQ's own protocol doesn't say"),),
        help='add `completions = …` here, or `management = "http://…:15672"` to the source',
    )


@mistake(
    "WQ642",
    Level.ERROR,
    bad=_BATCH.replace("from = s", "from = t")
    + 'source t: items { items = ["a"] }\nqueue q { from = s, worker = k }\n',
    good=_BATCH,
    blocking=True,
)
def batch_without_messages(stream: str, what: str, known: Sequence[str], declared: Span) -> Words:
    """A batch that doesn't read a message queue

    Each pod of a batch takes its own messages from the broker, so a batch reads a source of messages
    directly, without nodes in between. Everything else is work for a queue.
    """
    return Words(
        f"a batch reads a message queue, and `{stream}` is {what}",
        also=(Label(declared, "declared here"),),
        help=f"read a source of kind {', '.join(known[:-1])} or {known[-1]}, or make this a `queue`",
    )
