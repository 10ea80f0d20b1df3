"""Random workflows that are valid: they compile, whatever they mean."""

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

_WORDS = ("films", "orders", "mail_queue", "s3", "a", "old_jobs", "region_eu_1")
_HOSTILE = (
    "",
    " ",
    "no",
    "1e3",
    "0777",
    "12:30",
    "~",
    "- a",
    "a: b",
    "#",
    "'",
    '\\"',
    "\\\\",
    "\\n",
    "é",
    "日",
    "{{ a }}",
)
_CONDITIONS = (
    'item.name == "a"',
    "item.name.startsWith('a') && !item.name.endsWith(\"b\")",
    "size(item.name) > 3",
    'item.name in ["a", "b"] || item.version != ""',
)
_DURATIONS = ("500ms", "30s", "1h30m", "2d")


def _text(hostile: str) -> str:
    return f'"{hostile}"'


_texts = st.one_of(st.sampled_from(_HOSTILE), st.text("ab -_.:/", max_size=8)).map(_text)


@dataclass(frozen=True)
class _Stream:
    """Something that can be read, and the members that it has if it is a bundle."""

    reference: str
    members: tuple[str, ...] = ()


@dataclass
class _File:
    """`unread` are the streams that still need a reader, or may have one."""

    draw: st.DrawFn
    lines: list[str] = field(default_factory=list)
    unread: list[_Stream] = field(default_factory=list)
    optional: list[_Stream] = field(default_factory=list)
    workers: list[str] = field(default_factory=list)
    count: int = 0

    def name(self) -> str:
        self.count += 1
        return f"{self.draw(st.sampled_from(_WORDS))}_{self.count}"

    def take(self) -> _Stream:
        """A stream that from now on has its reader."""
        streams = self.unread + self.optional
        chosen = streams[self.draw(st.integers(0, len(streams) - 1))]
        (self.unread if chosen in self.unread else self.optional).remove(chosen)
        return chosen

    def chosen(self, *attributes: tuple[str, st.SearchStrategy[str]]) -> str:
        """Some of these, as `, name = value`."""
        return "".join(
            f", {name} = {self.draw(values)}" for name, values in attributes if self.draw(st.booleans())
        )


@st.composite
def workflows(draw: st.DrawFn) -> str:
    """The text of a file."""
    file = _File(draw)
    file.lines.append(draw(st.sampled_from(("workflow w", 'workflow my_flow { namespace = "shop" }'))))
    if draw(st.booleans()):
        file.lines.append('param registry = "registry.example.com:5000/a"')
        registry = "${registry}"
    else:
        registry = "registry.example.com"
    _settings(file)
    for _ in range(draw(st.integers(1, 3))):
        _worker(file, registry)
    for _ in range(draw(st.integers(1, 3))):
        draw(st.sampled_from(_SOURCES))(file)
    for _ in range(draw(st.integers(0, 6))):
        if file.unread or file.optional:
            draw(st.sampled_from(_NODES))(file)
    while file.unread:
        _queue(file)
    head, *rest = file.lines
    return "\n".join([head, *draw(st.permutations(rest))]) + "\n"


def _settings(file: _File) -> None:
    draw = file.draw
    if draw(st.booleans()):
        file.lines.append("budget { cpu = 9000, memory = 90Ti, pods = 90000 }")
    if draw(st.booleans()):
        more = file.chosen(("cpu", st.sampled_from(["50m", "100m..2"])), ("memory", st.just("256Mi")))
        file.lines.append(f'manager {{ image = "registry.example.com/wqc-runtime:1"{more} }}')
    if draw(st.booleans()):
        file.lines.append('cluster { pod_start = 2s, api_server = cidr("10.0.0.1/32") }')


def _worker(file: _File, registry: str) -> None:
    draw, name = file.draw, file.name()
    plain = [worker for worker in file.workers if worker.startswith("plain")]
    if len(plain) > 1 and draw(st.booleans()):
        name = f"all_{name}"
        file.lines.append(
            f"worker {name} {{ pipeline = [{', '.join(plain[:2])}]{file.chosen(*_RESOURCES)} }}"
        )
    else:
        name = f"plain_{name}"
        program = draw(
            st.sampled_from(
                (
                    "",
                    ', command = ["work", "--all"]',
                    ', run = "work"',
                    ', run = """\n  in=$1\n    work "$in"\n  """',
                )
            )
        )
        more = file.chosen(
            *_RESOURCES,
            ("env", st.tuples(_texts, _texts).map(lambda two: f"{{ A = {two[0]}, NO = {two[1]} }}")),
            ("mounts", st.sampled_from(['{ "/m" = pvc("m") }', '{ "/s" = secret("s"), "/tmp" = pvc("t") }'])),
            ("input", st.just("stdin")),
            ("takes", st.sampled_from(_DURATIONS[:2])),
            ("user", st.just("999")),
            ("writable_root", st.just("true")),
            ("egress", st.sampled_from(["none", "any", '[cidr("10.0.0.0/8")]'])),
            (
                "pod",
                st.sampled_from(
                    ['{ nodeSelector = { "a/b" = "no" } }', "{ priority = 5, hostAliases = [] }"]
                ),
            ),
        )
        file.lines.append(f'worker {name} {{ image = "{registry}/k:1"{program}{more} }}')
    file.workers.append(name)


_RESOURCES = (
    ("cpu", st.sampled_from(["1", "100m", "500m..2"])),
    ("memory", st.sampled_from(["64Mi", "1Gi..2Gi"])),
)


def _plain_source(kind: str, attributes: str) -> Callable[[_File], None]:
    def source(file: _File) -> None:
        name = file.name()
        more = file.chosen(("arrives", st.sampled_from(["1h30m", "2d"])))
        file.lines.append(f"source {name}: {kind} {{ {attributes}{more} }}")
        file.unread.append(_Stream(name))

    return source


def _literal_items(file: _File) -> None:
    name, texts = (
        file.name(),
        file.draw(st.lists(_texts.filter(lambda text: text != '""'), min_size=1, unique=True)),
    )
    file.lines.append(f"source {name}: items {{ items = [{', '.join(texts)}] }}")
    file.unread.append(_Stream(name))


def _bundle_source(file: _File) -> None:
    name = file.name()
    more = file.chosen(("auth", st.just('secret("a", "token")')))
    file.lines.append(
        f'source {name}: http {{ each = {{ a = "http://a", b_c = "http://b" }}, url = each{more} }}'
    )
    file.unread.append(_Stream(name, ("a", "b_c")))


_SOURCES: tuple[Callable[[_File], None], ...] = (
    _literal_items,
    _bundle_source,
    _plain_source("kafka", 'brokers = "k:9092,l:9092", topic = "t", format = text'),
    _plain_source("rabbitmq", 'brokers = "mq:5672", queue = "q", auth = secret("mq", "url"), ack = on_done'),
    _plain_source("redis_list", 'brokers = "r:6379", key = "k"'),
    _plain_source("redis_stream", 'brokers = "r:6379", key = "k", auth = secret("r", "p")'),
    _plain_source("git", 'url = "https://git.example.com/a.git", branch = "release/*"'),
    _plain_source("object_store", 'endpoint = "http://s3", bucket = "box", prefix = "no/"'),
    _plain_source("files", 'path = "/m", volume = pvc("m"), match = "**/*.mp4"'),
    _plain_source(
        "container", 'image = "registry.example.com/own:1", command = ["serve"], env = { NO = "no" }'
    ),
)


def _queue(file: _File) -> None:
    draw, read, name = file.draw, file.take(), file.name()
    more = file.chosen(
        ("parallelism", st.sampled_from(["1", "0..5", "2..40"])),
        ("retries", st.sampled_from(["0", "7"])),
        ("timeout", st.sampled_from(["2h", "3d"])),
        ("result", st.sampled_from(["required", "optional", "none"])),
        ("rework", st.just("on_change")),
        ("poison", st.just("[65, 66]")),
        ("env", _texts.map(lambda text: f"{{ B = {text} }}")),
        ("place", st.sampled_from(['zone("z")', 'nodes({ "kubernetes.io/arch" = "arm64" })'])),
        ("paused", st.just("true")),
        ("formerly", st.just(f'"was_{name}"')),
    )
    worker = draw(st.sampled_from(file.workers))
    file.lines.append(f"queue {name} {{ from = {read.reference}, worker = {worker}{more} }}")
    # Its lanes can be read one by one too, which is left to other tests.
    file.optional += [_Stream(name), _Stream(f"{name}.failed")]


def _copier(file: _File) -> None:
    read, name = file.take(), file.name()
    file.lines.append(f"copier {name} {{ from = {read.reference} }}")
    file.unread += [_Stream(name, read.members)] * file.draw(st.integers(2, 3))


def _filter(file: _File) -> None:
    read, name = file.take(), file.name()
    condition = file.draw(st.sampled_from(_CONDITIONS))
    more = file.chosen(("share", st.just("0.5")))
    file.lines.append(f"filter {name} {{ from = {read.reference}{more}, where = {condition} }}")
    file.unread.append(_Stream(name, read.members))
    file.optional.append(_Stream(f"{name}.failed"))


def _splitter(file: _File) -> None:
    draw, read, name = file.draw, file.take(), file.name()
    cases = ("a", "b", "c")[: draw(st.integers(1, 3))]
    conditions = ", ".join(f"{case} = {draw(st.sampled_from(_CONDITIONS))}" for case in cases)
    drop = draw(st.booleans())
    rest = ", otherwise = drop" if drop else ""
    file.lines.append(f"splitter {name} {{ from = {read.reference}, cases = {{ {conditions} }}{rest} }}")
    outputs = cases if drop else (*cases, "otherwise")
    file.unread += [_Stream(f"{name}.{output}", read.members) for output in outputs]


def _sharder(file: _File) -> None:
    draw, read, name = file.draw, file.take(), file.name()
    if read.members:
        _put_back(file, read)
        return
    shards = draw(st.sampled_from(("[a, b]", '{ a = zone("a"), b = nodes({ disk = "ssd" }) }')))
    rollout = draw(st.sampled_from(("", ", rollout = { order = [b, a], prove = 5 }")))
    file.lines.append(
        f"sharder {name} {{ from = {read.reference}, key = item.name, shards = {shards}{rollout} }}"
    )
    file.unread.append(_Stream(name, ("a", "b")))
    file.optional.append(_Stream(f"{name}.failed"))


def _merger(file: _File) -> None:
    read, name = file.take(), file.name()
    if read.members:
        file.lines.append(f"merger {name} {{ from = {read.reference} }}")
    else:
        others = [each for each in file.unread if not each.members and each.reference != read.reference]
        if not others:
            _put_back(file, read)
            return
        file.unread.remove(others[0])
        file.lines.append(f"merger {name} {{ from = [{read.reference}, {others[0].reference}] }}")
    file.unread.append(_Stream(name))


def _put_back(file: _File, stream: _Stream) -> None:
    file.unread.append(stream)


def _carrier(file: _File) -> None:
    read, name = file.take(), file.name()
    if read.members:
        _put_back(file, read)
        return
    more = file.chosen(("create", st.just("true")), ("auth", st.just('secret("k", "p"), username = "u"')))
    file.lines.append(
        f'carrier {name}: kafka {{ from = {read.reference}, brokers = "k:9092", topic = "t"{more} }}'
    )


def _batch(file: _File) -> None:
    """A source of its own and a worker with a command."""
    draw, source, worker, name = file.draw, file.name(), file.name(), file.name()
    kind = draw(st.sampled_from(("coarse", "fine")))
    file.lines += [
        f'source {source}: redis_list {{ brokers = "r:6379", key = "k", auth = secret("r", "p") }}',
        f'worker {worker} {{ image = "r.example.com/b:1", command = ["b"], env = {{ X = {draw(_texts)} }} }}',
        f"batch {name}: {kind} {{ from = {source}, worker = {worker}"
        + file.chosen(("completions", st.just("8")), ("parallelism", st.just("4")), ("run", st.just('"no"')))
        + " }",
    ]


_NODES: tuple[Callable[[_File], None], ...] = (
    _queue,
    _copier,
    _filter,
    _splitter,
    _sharder,
    _merger,
    _carrier,
    _batch,
)
