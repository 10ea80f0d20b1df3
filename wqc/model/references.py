"""What a reference such as `channel.email` or `verify.a.failed` stands for."""

from collections.abc import Mapping

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import names
from wqc.language.declaration import Declaration
from wqc.language.values import Reference
from wqc.model.nodes import Node, StreamRef, inputs
from wqc.model.streams import Streams

NODE_BLOCKS = ("source", "queue", "batch", "carrier", "copier", "filter", "splitter", "sharder", "merger")
_READABLE = tuple(block for block in NODE_BLOCKS if block not in ("batch", "carrier"))


def stream_of(
    reference: Reference,
    declarations: Mapping[str, Declaration],
    broken: frozenset[str],
    findings: list[Finding],
) -> StreamRef | None:
    """The stream that a reference names; `None` if there is no such node or output, which is then reported.

    Names in `broken` have been reported already.

    Whether the member exists is not yet known: `unknown_members` says so once all nodes are there.
    """
    name, *rest = reference.names
    declared = declarations.get(name)
    if declared is None and name in broken:
        return None
    if declared is None:
        known = [known for known, each in declarations.items() if each.block in _READABLE]
        findings.append(names.unknown_name(reference.span, "stream", str(reference), known))
        return None
    if declared.block not in _READABLE:
        hint = (
            "another workflow's source reads what a carrier publishes" if declared.block == "carrier" else ""
        )
        findings.append(names.not_a(reference.span, "stream", name, declared.block, declared.name_span, hint))
        return None
    if declared.block == "splitter":
        return _of_splitter(reference, declared, findings)
    output, member = "", ".".join(rest)
    if rest and rest[-1] == "failed" and "failed" in declared.type.outputs:
        output, member = "failed", ".".join(rest[:-1])
    return StreamRef(name, output, member, reference.span)


def _of_splitter(reference: Reference, declared: Declaration, findings: list[Finding]) -> StreamRef | None:
    name, *rest = reference.names
    cases = declared.get("cases", {})
    known = [*cases, *declared.type.outputs]
    if not declared.valid or (rest and rest[0] in known):
        return StreamRef(name, rest[0] if rest else "", ".".join(rest[1:]), reference.span, by_output=True)
    if rest:
        findings.append(names.unknown_output(reference.span, name, rest[0], known, declared.name_span))
    else:
        findings.append(names.whole_splitter(reference.span, name, [f"{name}.{case}" for case in cases]))
    return None


def unknown_members(nodes: Mapping[str, Node], declarations: Mapping[str, Declaration]) -> list[Finding]:
    """References to members that a bundle doesn't have."""
    streams = Streams(nodes)
    findings: list[Finding] = []
    for node in nodes.values():
        for stream in inputs(node):
            if not stream.member or stream.span is None or stream.node not in nodes:
                continue
            whole = streams.shape(StreamRef(stream.node, stream.output))
            known = [*whole.members, *whole.selectable]
            if whole.known and stream.member not in known:
                outputs = [output for output in streams.outputs(nodes[stream.node]) if output]
                declared = declarations[stream.node].name_span
                findings.append(
                    names.unknown_output(stream.span, stream.node, stream.member, known + outputs, declared)
                )
    return findings
