"""The table of the language: every block, kind and attribute, with its type, default and meaning.

The checker, the formatter, the suggestions, `wqc schema` and the reference page all read it; nothing else
lists
attributes.
"""

from wqc.contract.limits import MOST_FAILED
from wqc.language.types import (
    Attribute,
    BlockType,
    CallOf,
    Cel,
    CpuType,
    Data,
    DurationType,
    Flag,
    Fraction,
    Function,
    Integer,
    ListOf,
    MapOf,
    MemoryType,
    OneOf,
    RangeOf,
    ReferenceTo,
    ScriptText,
    Struct,
    Text,
    Type,
    Word,
)

_LABEL = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_LABEL_WORDS = "letters, digits, `-`, `_` and `.`, at most 63"
LABEL_VALUE = Text(f"({_LABEL})?", _LABEL_WORDS)
ZONE = Text(_LABEL, _LABEL_WORDS)
DATA_KEY = Text(r"(?!\.$|\.\.)[-._a-zA-Z0-9]{1,253}", "letters, digits, `-`, `_` and `.`, at most 253")
DNS_LABEL = Text(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", "lower-case letters, digits and `-`, at most 63")
_DNS_PART = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
DNS_NAME = Text(
    rf"(?=.{{1,253}}$){_DNS_PART}(\.{_DNS_PART})*",
    "parts of lower-case letters, digits and inner `-`, joined by `.`, at most 253 in all",
)
ABSOLUTE_PATH = Text(r"/[^\0:]*", "an absolute path")
URL = Text(r"https?://[^\s/]+(/\S*)?", "an http:// or https:// address")
HOST_PORT_LIST = Text(r"[^\s,:/]+:\d{1,5}(,[^\s,:/]+:\d{1,5})*", "`host:port`, several separated by commas")
HOST_PORT = Text(r"[^\s,:/]+:\d{1,5}", "`host:port`")
IMAGE = Text(r"[^\s@]+(@sha256:[0-9a-f]{64})?", "an image reference")
NOT_EMPTY = Text(r"(?s).+", "not empty")
ANY_TEXT = Text()
SECRET_KEY = CallOf(("secret",), needs=("key",))
PLACES = CallOf(("zone", "nodes"))
ENVIRONMENT = MapOf(
    OneOf((ScriptText(), CallOf(("secret", "config_map"), needs=("key",)))),
    r"[A-Za-z_][A-Za-z0-9_]*",
    "an environment variable's name",
)
MOUNTS = MapOf(CallOf(("pvc", "secret", "config_map")), ABSOLUTE_PATH.pattern, ABSOLUTE_PATH.what)
COMMAND = ListOf(ANY_TEXT, least=1)
EGRESS = OneOf((Word(("none", "any")), ListOf(CallOf(("cidr",)), least=1)))
STREAM = ReferenceTo("stream")


def _required(name: str, type: Type, doc: str) -> Attribute:
    return Attribute(name, type, doc, required=True)


FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function(
            "pvc",
            (_required("name", DNS_NAME, "the claim's name"),),
            (
                Attribute("read_only", Flag(), "mount it read-only", "false"),
                Attribute(
                    "access",
                    Word(("rwx", "rwo", "rox")),
                    "the claim's access mode: many nodes, one, read-only many",
                    "rwx",
                ),
                Attribute(
                    "sub_path",
                    Text(r"(?!(.*/)?\.\.(/|$))[^/\0][^\0]*", "a relative path without `..`"),
                    "a folder of the volume instead of its root",
                ),
            ),
            "A PersistentVolumeClaim of the namespace.",
        ),
        Function(
            "secret",
            (_required("name", DNS_NAME, "the Secret's name"), Attribute("key", DATA_KEY, "one key of it")),
            (),
            "A Secret of the namespace: one key as a value, or all of it mounted as files.",
        ),
        Function(
            "config_map",
            (
                _required("name", DNS_NAME, "the ConfigMap's name"),
                Attribute("key", DATA_KEY, "one key of it"),
            ),
            (),
            "A ConfigMap of the namespace: one key as a value, or all of it mounted as files.",
        ),
        Function("zone", (_required("name", ZONE, "the zone's name"),), (), "The nodes of one zone."),
        Function(
            "nodes",
            (
                _required(
                    "labels",
                    MapOf(
                        LABEL_VALUE,
                        r"([-a-z0-9.]+/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?",
                        "a label's key",
                    ),
                    "node labels",
                ),
            ),
            (),
            "The nodes that carry all these labels.",
        ),
        Function(
            "cidr",
            (
                _required(
                    "network", Text(r"[0-9a-fA-F.:]+/\d{1,3}", "a network such as 10.0.0.0/8"), "the network"
                ),
            ),
            (),
            "A network.",
        ),
    )
}

_CPU = Attribute("cpu", RangeOf(CpuType()), "CPU request, or request..limit")
_MEMORY = Attribute("memory", RangeOf(MemoryType()), "memory request and limit, or request..limit")
_ENV = Attribute("env", ENVIRONMENT, "environment variables", "{}")
_MOUNTS = Attribute("mounts", MOUNTS, "volumes, by the path they are mounted at", "{}")
_USER = Attribute("user", Integer(0, 2**31 - 1), "the user id that its processes run as", "10001")
_POD = Attribute(
    "pod",
    MapOf(Data(), r"[a-z][A-Za-z0-9]*", "a field of PodSpec"),
    "raw PodSpec fields, merged into the pod and checked against Kubernetes' schema",
)
_PROFILE = Attribute(
    "profile",
    Word(("restricted", "baseline", "privileged")),
    "the Pod Security Standard that the pod must meet; less than restricted has to be said",
    "restricted",
)
_WRITABLE = Attribute(
    "writable_root", Flag(), "let the container write to its own image's file system", "false"
)
_EGRESS = Attribute("egress", EGRESS, "where its pods may connect to", "any")
_RETRIES = Attribute("retries", Integer(0, 100), "further attempts at an item that failed", "3")
_TIMEOUT = Attribute("timeout", DurationType(), "how long one attempt may run, in whole seconds, rounded up")
_TAKES = Attribute("takes", DurationType(), "the mean time that the work on one item takes")
_AUTH = Attribute("auth", SECRET_KEY, "the credentials")
_ARRIVES = Attribute("arrives", DurationType(), "the mean time between two new items")
_EACH = Attribute(
    "each",
    MapOf(Data(), least=1),
    "makes a bundle: one source per entry, in which `each` stands for the entry's value",
)
_FORMAT = Attribute("format", Word(("json", "text", "bytes")), "what a message's body is", "json")
_ACK = Attribute(
    "ack",
    Word(("on_start", "on_done")),
    "when a message is acknowledged: once its Jobs exist, or once they are finished",
    "on_start",
)
_TLS = Attribute(
    "tls", OneOf((Flag(), CallOf(("secret",)))), "use TLS; a secret holds the certificate authority", "false"
)
_USERNAME = Attribute("username", NOT_EMPTY, "the name that goes with `auth`")
_SASL = Attribute(
    "sasl",
    Word(("plain", "scram_sha_256", "scram_sha_512")),
    "how `username` and `auth` are sent",
    "scram_sha_512",
)
_COMMON_SOURCE = (_ARRIVES, _EACH)
_AMBASSADOR = (
    Attribute("cpu", RangeOf(CpuType()), "the ambassador's CPU request, or request..limit", "10m"),
    Attribute(
        "memory",
        RangeOf(MemoryType()),
        "the ambassador's memory request and limit, or request..limit",
        "128Mi",
    ),
)

SOURCE = BlockType(
    "source",
    "Where items come from.",
    (),
    outputs=("", "failed"),
    kinds=(
        BlockType(
            "files",
            "The files of a directory, links to folders not followed; an item's name is its path in it, its "
            "version its size and time.",
            (
                _required(
                    "path", ABSOLUTE_PATH, "the directory, as the manager's pod and the workers see it"
                ),
                Attribute(
                    "match",
                    NOT_EMPTY,
                    "which files: a glob pattern, `**` for any folders; a leading dot matches only itself",
                    '"*"',
                ),
                _required("volume", CallOf(("pvc",)), "the volume that is mounted at `path`"),
                Attribute(
                    "quiet",
                    DurationType(),
                    "a file is complete when it hasn't changed for so long; where it is written by a machine "
                    "whose clock is behind, add by how much, or write it under a name that `match` doesn't "
                    "take and rename it",
                    "10s",
                ),
                *_COMMON_SOURCE,
                *_AMBASSADOR,
            ),
            fields=(("path", "string"), ("name", "string"), ("size", "int"), ("modified", "string")),
        ),
        BlockType(
            "object_store",
            "The objects of an S3 bucket, but for keys that end in `/`; an item's name is the key, its "
            "version the ETag.",
            (
                _required("endpoint", URL, "the S3 service"),
                _required(
                    "bucket", Text(r"[a-z0-9][-a-z0-9.]{1,61}[a-z0-9]", "a bucket's name"), "the bucket"
                ),
                Attribute("prefix", ANY_TEXT, "only keys that start with it", '""'),
                Attribute(
                    "match",
                    NOT_EMPTY,
                    "which keys, after the prefix: a glob pattern, `**` for any folders",
                    '"**"',
                ),
                Attribute("region", NOT_EMPTY, "the service's region", '"us-east-1"'),
                Attribute("access_key", SECRET_KEY, "the access key's id"),
                Attribute("secret_key", SECRET_KEY, "the access key's secret"),
                Attribute("path_style", Flag(), "address the bucket in the path, not the host name", "true"),
                *_COMMON_SOURCE,
                *_AMBASSADOR,
            ),
            fields=(
                ("bucket", "string"),
                ("key", "string"),
                ("size", "int"),
                ("etag", "string"),
                ("modified", "string"),
            ),
        ),
        BlockType(
            "kafka",
            "The messages of a topic; an item is named topic-partition-offset@id, or as a carrier called it.",
            (
                _required("brokers", HOST_PORT_LIST, "the brokers to ask first"),
                _required("topic", Text(r"[a-zA-Z0-9._-]{1,249}", "a topic's name"), "the topic"),
                Attribute(
                    "group", NOT_EMPTY, "the consumer group that offsets are committed for", "workflow.source"
                ),
                Attribute(
                    "start",
                    Word(("earliest", "latest")),
                    "where to begin without a committed offset",
                    "earliest",
                ),
                Attribute("dedupe", DurationType(), "how long a carrier's item names are remembered", "24h"),
                _FORMAT,
                _ACK,
                _USERNAME,
                _AUTH,
                _SASL,
                _TLS,
                *_COMMON_SOURCE,
                *_AMBASSADOR,
            ),
        ),
        BlockType(
            "rabbitmq",
            "The messages of a queue on RabbitMQ.",
            (
                _required("brokers", HOST_PORT, "the broker"),
                _required("queue", NOT_EMPTY, "the broker's queue"),
                Attribute(
                    "identity",
                    Word(("message_id", "payload", "delivery")),
                    "what makes two messages the same item: the sender's id, the body, or nothing "
                    "(one may be recorded twice after a crash)",
                    "message_id",
                ),
                Attribute("management", URL, "the management API, which alone shows unacknowledged messages"),
                _FORMAT,
                _ACK,
                Attribute(
                    "auth",
                    SECRET_KEY,
                    "the address with its credentials, `amqp://user:password@host:port/vhost`",
                ),
                _TLS,
                *_COMMON_SOURCE,
                *_AMBASSADOR,
            ),
        ),
        BlockType(
            "redis_list",
            "The entries of a Redis list.",
            (
                _required("brokers", HOST_PORT, "the Redis server"),
                _required("key", NOT_EMPTY, "the list's key"),
                _FORMAT,
                _ACK,
                _USERNAME,
                Attribute("auth", SECRET_KEY, "the password"),
                _TLS,
                *_COMMON_SOURCE,
                *_AMBASSADOR,
            ),
        ),
        BlockType(
            "redis_stream",
            "The entries of a Redis stream; an item's name is the entry's id.",
            (
                _required("brokers", HOST_PORT, "the Redis server"),
                _required("key", NOT_EMPTY, "the stream's key"),
                Attribute("group", NOT_EMPTY, "the consumer group", "workflow.source"),
                _FORMAT,
                _ACK,
                _USERNAME,
                Attribute("auth", SECRET_KEY, "the password"),
                _TLS,
                *_COMMON_SOURCE,
                *_AMBASSADOR,
            ),
        ),
        BlockType(
            "git",
            "The commits of a repository's branch, oldest first; an item's name is the commit's id.",
            (
                _required(
                    "url",
                    Text(r"(https?://|ssh://|git://|file://|/).+", "a repository's address"),
                    "the repository",
                ),
                Attribute("branch", NOT_EMPTY, "the branch, or a glob pattern for several", '"main"'),
                Attribute("depth", Integer(1, 1_000_000), "how many commits back the listing goes", "1000"),
                Attribute("auth", SECRET_KEY, "the token or password for https addresses"),
                _USERNAME,
                *_COMMON_SOURCE,
                *_AMBASSADOR,
            ),
            fields=(
                ("url", "string"),
                ("branch", "string"),
                ("commit", "string"),
                ("author", "string"),
                ("subject", "string"),
                ("time", "string"),
            ),
        ),
        BlockType(
            "items",
            "A list in the file itself: names, or a map from names to data.",
            (
                _required(
                    "items",
                    OneOf(
                        (ListOf(NOT_EMPTY, 1, distinct=True), MapOf(Data(), r"(?s).+", "not empty", least=1))
                    ),
                    "the items; the data of one without any is its name",
                ),
                *_COMMON_SOURCE,
            ),
        ),
        BlockType(
            "http",
            "Any service that speaks the Source API.",
            (
                _required("url", URL, "the address in front of /api/v1/items"),
                Attribute("auth", SECRET_KEY, "the bearer token"),
                *_COMMON_SOURCE,
                *_AMBASSADOR,
            ),
        ),
        BlockType(
            "container",
            "Your own ambassador: an image that serves the Source API on loopback.",
            (
                _required("image", IMAGE, "the image"),
                Attribute("command", COMMAND, "what to run instead of the image's entrypoint"),
                Attribute("port", Integer(1024, 65535), "the port on loopback that it listens on", "8080"),
                _ENV,
                _MOUNTS,
                _USER,
                _WRITABLE,
                _ARRIVES,
                *_AMBASSADOR,
            ),
        ),
    ),
)

WORKER = BlockType(
    "worker",
    "A container that handles one item, or several one after the other.",
    (
        Attribute("image", IMAGE, "the image"),
        Attribute("command", COMMAND, "what to run, as an argument list"),
        Attribute("run", ScriptText(), "what to run, as a script for `sh -ec`"),
        Attribute(
            "pipeline",
            ListOf(ReferenceTo("worker"), least=2),
            "other workers, one after the other over one item",
        ),
        Attribute("input", Word(("file", "stdin")), "how the item's data reaches the command", "file"),
        _ENV,
        _MOUNTS,
        _CPU,
        _MEMORY,
        Attribute(
            "resources",
            MapOf(Integer(1), r"[-a-z0-9.]+/[-A-Za-z0-9_.]+", "an extended resource such as nvidia.com/gpu"),
            "extended resources",
        ),
        Attribute(
            "scratch", MemoryType(), "the size of $WORK_SCRATCH, which the steps of a pipeline share", "1Gi"
        ),
        _TAKES,
        _USER,
        _WRITABLE,
        _PROFILE,
        _EGRESS,
        _POD,
    ),
)

QUEUE = BlockType(
    "queue",
    "A stream and a worker: one Job per attempt at an item.",
    (
        _required("from", STREAM, "the stream, or a bundle for one lane per member"),
        _required("worker", ReferenceTo("worker"), "the worker"),
        Attribute(
            "parallelism",
            RangeOf(Integer(0, 5000)),
            "how many items at a time, per lane; a range is autoscaled",
            "1",
        ),
        _RETRIES,
        _TIMEOUT,
        _ENV,
        Attribute("takes", DurationType(), "the mean time that the work on one item takes", "the worker's"),
        Attribute(
            "result",
            Word(("required", "optional", "none")),
            "whether the worker's result becomes the finished item's data",
            "none",
        ),
        Attribute(
            "rework",
            Word(("never", "on_change")),
            "whether a new version of a finished item is new work",
            "never",
        ),
        Attribute("poison", ListOf(Integer(1, 255), least=1), "exit codes that aren't retried"),
        Attribute("deadline", DurationType(), "the time to work off the backlog", "1h"),
        Attribute("failure_rate", Fraction(0.0, 0.99), "the share of attempts that fail, for the rates", "0"),
        Attribute("handover", Integer(1, 100_000), "how many finished Jobs may wait for their reader", "500"),
        Attribute(
            "failed_limit", Integer(1, MOST_FAILED), "at so many failed items the queue pauses itself", "1000"
        ),
        Attribute("keep", DurationType(), "how long a finished Job is kept", "1h"),
        Attribute("place", PLACES, "the nodes that its pods run on"),
        Attribute("paused", Flag(), "start nothing new", "false"),
        Attribute(
            "formerly",
            Text(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", "a queue's name"),
            "the queue's earlier name: what is done stays done",
        ),
    ),
    outputs=("", "failed"),
)

BATCH = BlockType(
    "batch",
    "A finite Job over a message queue.",
    (),
    kinds=tuple(
        BlockType(
            kind,
            doc,
            (
                _required("from", STREAM, "a source of messages"),
                _required("worker", ReferenceTo("worker"), "the worker; its `command` is wrapped"),
                Attribute("parallelism", Integer(1, 5000), "how many pods at a time", "1"),
                Attribute(
                    "completions",
                    Integer(1, 100_000),
                    "how many messages there are, instead of measuring when none is left",
                ),
                _RETRIES,
                _TIMEOUT,
                _ENV,
                Attribute(
                    "takes", DurationType(), "the mean time that the work on one item takes", "the worker's"
                ),
                Attribute(
                    "wait",
                    DurationType(),
                    "how long a batch that ends when none is left waits for a first message",
                    "10m",
                ),
                Attribute("place", PLACES, "the nodes that its pods run on"),
                Attribute(
                    "run",
                    Text(
                        r"[a-z0-9]([-a-z0-9]{0,18}[a-z0-9])?", "at most 20 lower-case letters, digits and `-`"
                    ),
                    "change it to run once more",
                    '"1"',
                ),
            ),
        )
        for kind, doc in (
            (
                "coarse",
                "A pod takes one message and ends; at most 99,999 a run where completions are measured.",
            ),
            ("fine", "A pod takes messages until none is left."),
        )
    ),
)

CARRIER = BlockType(
    "carrier",
    "Takes a stream out of the workflow, to a pub/sub service that another workflow's source reads.",
    (),
    kinds=(
        BlockType(
            "kafka",
            "Publishes to a topic.",
            (
                _required("from", STREAM, "the stream"),
                _required("brokers", HOST_PORT_LIST, "the brokers to ask first"),
                _required("topic", Text(r"[a-zA-Z0-9._-]{1,249}", "a topic's name"), "the topic"),
                Attribute("create", Flag(), "create the topic if it is absent", "false"),
                Attribute("partitions", Integer(1, 10_000), "its partitions, if it is created", "1"),
                Attribute("replication", Integer(1, 100), "its copies, if it is created", "3"),
                _USERNAME,
                _AUTH,
                _SASL,
                _TLS,
                *_AMBASSADOR,
            ),
        ),
    ),
)

COPIER = BlockType(
    "copier",
    "The same stream to each of its readers.",
    (_required("from", STREAM, "the stream"),),
    outputs=("",),
)

FILTER = BlockType(
    "filter",
    "The items for which a condition holds.",
    (
        _required("from", STREAM, "the stream"),
        _required("where", Cel("bool"), "the condition"),
        Attribute("share", Fraction(), "the share of items for which it holds, for the rates", "1"),
    ),
    outputs=("", "failed"),
)

SPLITTER = BlockType(
    "splitter",
    "One stream per case; an item goes to every case that holds.",
    (
        _required("from", STREAM, "the stream"),
        _required("cases", MapOf(Cel("bool"), least=1), "conditions by the name of their stream"),
        Attribute(
            "share", MapOf(Fraction()), "the share of items for which each holds, for the rates", "1 each"
        ),
        Attribute("otherwise", Word(("drop",)), "forget the items for which no case holds"),
    ),
    outputs=("otherwise", "failed"),
)

SHARDER = BlockType(
    "sharder",
    "A bundle: each item to exactly one member, by its key.",
    (
        _required("from", STREAM, "the stream"),
        _required("key", Cel("any"), "items of equal keys go to the same member"),
        _required(
            "shards",
            OneOf((ListOf(ReferenceTo("shard"), least=2), MapOf(PLACES, least=2))),
            "the members, and the nodes that each runs on",
        ),
        Attribute(
            "rollout",
            Struct(
                (
                    _required(
                        "order",
                        ListOf(ReferenceTo("shard"), least=1),
                        "the shards, the first to get a new template first",
                    ),
                    Attribute(
                        "prove", Integer(1, 100_000), "after so many successes the next one follows", "20"
                    ),
                )
            ),
            "bring a new worker to one shard after the other",
        ),
    ),
    outputs=("", "failed"),
)

MERGER = BlockType(
    "merger",
    "The union of several streams; an item's name becomes `input:name`.",
    (_required("from", OneOf((ListOf(STREAM, least=1), STREAM)), "the streams, or a bundle"),),
    outputs=("",),
)

WORKFLOW = BlockType(
    "workflow",
    "The file's one workflow.",
    (
        Attribute(
            "namespace",
            DNS_LABEL,
            "the namespace written into every object; without it the objects have none",
        ),
        Attribute(
            "retired",
            ListOf(Text(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", "a queue's name"), least=1),
            "queues that were taken out on purpose",
        ),
    ),
)

MANAGER = BlockType(
    "manager",
    "The pod that runs the workflow's queues.",
    (
        Attribute("image", IMAGE, "the runtime image", "wqc-runtime:VERSION"),
        Attribute("cpu", RangeOf(CpuType()), "CPU request, or request..limit", "100m..1"),
        Attribute("memory", RangeOf(MemoryType()), "memory request and limit, or request..limit", "128Mi"),
        _USER,
        _PROFILE,
        _POD,
    ),
    named=False,
)

BUDGET = BlockType(
    "budget",
    "The namespace's quota; more than it at the peak is an error.",
    (
        Attribute("cpu", CpuType(), "cores requested"),
        Attribute("memory", MemoryType(), "memory requested"),
        Attribute("pods", Integer(1), "pods"),
    ),
    named=False,
)

CLUSTER = BlockType(
    "cluster",
    "What the cluster can do.",
    (
        Attribute(
            "jobs_per_second",
            Fraction(0.001, 10_000.0),
            "Jobs that its control plane starts and finishes in a second",
            "3",
        ),
        Attribute(
            "pod_start",
            DurationType(),
            "from a Job's creation to its container's start, and from its end to the finish seen",
            "3s",
        ),
        Attribute(
            "api_server", CallOf(("cidr",)), "where the API server is; without it any address, by port"
        ),
    ),
    named=False,
)

BLOCKS: dict[str, BlockType] = {
    block.name: block
    for block in (
        WORKFLOW,
        CLUSTER,
        BUDGET,
        MANAGER,
        SOURCE,
        WORKER,
        QUEUE,
        BATCH,
        CARRIER,
        COPIER,
        FILTER,
        SPLITTER,
        SHARDER,
        MERGER,
    )
}
"""By name, in the order of the reference page. `param` and `import` are statements, not blocks."""

PARAM_TYPES: dict[str, Type] = {
    "string": ANY_TEXT,
    "integer": Integer(-(2**63), 2**63 - 1),
    "number": Fraction(-1e300, 1e300),
    "boolean": Flag(),
    "duration": DurationType(),
    "cpu": CpuType(),
    "memory": MemoryType(),
    "integer_range": RangeOf(Integer()),
    "cpu_range": RangeOf(CpuType()),
    "memory_range": RangeOf(MemoryType()),
    "list": ListOf(Data()),
    "map": MapOf(Data(), r"(?s).*"),
}
"""What may stand after a param's colon."""

RESERVED = ("item", "param", "each", "true", "false", "null", "in")
NAME = r"[a-z][a-z0-9]*(_[a-z0-9]+)*"
