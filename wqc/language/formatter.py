"""The one layout of a `.wq` file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.source import Source
from wqc.language.arrangement import Arrangement
from wqc.language.columns import OneLiner, in_columns
from wqc.language.parser import parse
from wqc.language.rows import COMMENT_COLUMN, INDENT, WIDTH, Row, set_out
from wqc.language.syntax import Block, Import


@dataclass(frozen=True, slots=True)
class Formatted:
    """`text` is as it was if there are findings: what can't be read isn't rearranged."""

    text: str
    findings: tuple[Finding, ...]


def format_text(source: Source) -> Formatted:
    """Arrange a file; what it means stays the same, and so do its comments.

    Of several empty lines one stays. A block, list or map that was written on one line stays on one if it
    fits into 120 characters; the others have a line for each entry.
    """
    parsed = parse(source)
    if parsed.findings:
        return Formatted(source.text, parsed.findings)
    statements = parsed.document.statements
    arrangement = Arrangement(source, parsed.document.comments)
    one_liners = dict(_one_liners(statements, arrangement))
    rows, _ = arrangement.rows(
        statements,
        lambda statement: _row(statement, arrangement, one_liners),
        0,
        len(source.text),
    )
    return Formatted("".join(line + "\n" for line in set_out(rows, 0)), ())


def _row(statement: Block | Import, arrangement: Arrangement, one_liners: dict[int, str]) -> Row:
    if isinstance(statement, Import):
        text = f"import {statement.path.span.text} as {statement.alias.text}"
        return Row(lambda column: [text])
    value = statement.value
    if value is not None:
        return Row(lambda column: arrangement.value(value, column, 0), key=_head(statement))
    line = one_liners.get(statement.span.start)
    if line is not None:
        return Row(lambda column: [line])
    return Row(lambda column: _block(statement, arrangement))


def _block(block: Block, arrangement: Arrangement) -> list[str]:
    head = _head(block)
    if block.attributes is None:
        return [head]
    rows, beside = arrangement.entry_rows(block.attributes, block.head.end, block.span.end, INDENT)
    if not rows and not beside:
        return [f"{head} {{}}"]
    opening = f"{head} {{".ljust(COMMENT_COLUMN - 2) + f"  {beside}" if beside else f"{head} {{"
    return [opening, *set_out(rows, INDENT), "}"]


def _head(block: Block) -> str:
    return _name(block) + (f": {block.base.text}" if block.base else "")


def _name(block: Block) -> str:
    name = f" {block.name.text}" if block.name else ""
    parameters = (
        f"({', '.join(parameter.text for parameter in block.parameters)})" if block.parameters else ""
    )
    return block.kind.text + name + parameters


def _one_liners(statements: Sequence[Block | Import], arrangement: Arrangement) -> Iterator[tuple[int, str]]:
    """Where each block starts that stays on one line, and that line."""
    run: list[tuple[Block, OneLiner]] = []
    for statement in statements:
        if not isinstance(statement, Block):
            continue
        one = _one_liner(statement, arrangement)
        if one is None:
            continue
        if run and not _belongs(statement, run[-1][0], arrangement):
            yield from _run_lines(run)
            run = []
        run.append((statement, one))
    yield from _run_lines(run)


def _run_lines(run: Sequence[tuple[Block, OneLiner]]) -> Iterator[tuple[int, str]]:
    lines = in_columns([one for _, one in run])
    return ((block.span.start, line) for (block, _), line in zip(run, lines, strict=True))


def _belongs(block: Block, previous: Block, arrangement: Arrangement) -> bool:
    """Whether a block stands in columns with the one before: on the next line, and of the same kind."""
    alike = block.kind.text == previous.kind.text if block.name else previous.name is None
    next_line = block.span.source.position(previous.span.end)[0] + 1
    return (
        alike
        and block.span.line == next_line
        and not arrangement.comments_between(block.head.start, block.head.end)
    )


def _one_liner(block: Block, arrangement: Arrangement) -> OneLiner | None:
    if block.attributes is None:
        return None
    if "\n" in block.span.text and (
        block.attributes or arrangement.comments_between(block.head.end, block.span.end)
    ):
        return None
    entries = tuple((entry.key.span.text, arrangement.flat(entry.value) or "") for entry in block.attributes)
    one = OneLiner(_name(block), block.base.text if block.base else "", entries)
    return one if len(one.text()) <= WIDTH else None
