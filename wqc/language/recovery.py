"""What happens at a word that fits nothing: one finding for its statement or entry, and on with the rest."""

from bisect import bisect_left, insort

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.source import Source, Span
from wqc.language.automaton import Automaton
from wqc.language.builder import Builder
from wqc.language.explain import explain
from wqc.language.place import Place
from wqc.language.syntax import Block, Broken, Import, Name, String


class Recovery:
    """Call it where a token fits nothing; `told` is what has been said of the text already."""

    def __init__(self, source: Source, builder: Builder, told: list[Finding]) -> None:
        self.source = source
        self.builder = builder
        self.findings: list[Finding] = []
        self._comma: int | None = None
        self._around_blocks: set[int] = set()
        self._told = sorted(finding.span.start for finding in told)

    def __call__(self, automaton: Automaton) -> None:
        floor = automaton.floors[-1]
        read = automaton.values[floor:]
        assigned = len(read) > 1 and isinstance(read[1], tuple) and read[1][0] == "EQUAL"
        top = len(automaton.floors) == 1 and automaton.rule == "document" and not assigned
        place = Place(
            self.source,
            automaton.tokens,
            self._entry_start(automaton, floor),
            automaton.at,
            automaton.expects,
            assigned,
            top,
            len(automaton.floors) > 1,
        )
        if place.is_block():
            self._leave_out(automaton, place, floor)
            return
        self._say(place)
        if place.kind(1) == "EQUAL" and not place.inside() and automaton.expects("_END"):
            automaton.tokens.insert(automaton.at, ("_END", place.span().start, place.span().start))
        elif assigned:
            automaton.forget(floor + 2)
            self._put_broken(automaton)
        elif floor == 0:
            automaton.forget(0)
            self._put_broken(automaton)
        elif top:
            self._mend_statement(automaton, place, floor, read)
        else:
            self._mend_entry(automaton, place, floor, read)

    def _say(self, place: Place) -> None:
        """Say what is wrong, unless something was said of this statement or entry, or the comma before."""
        comma = place.text() == ","
        another_comma = comma and self._comma == place.at - 1
        self._comma = place.at if comma else None
        if another_comma:
            return
        at = bisect_left(self._told, place.tokens[place.start][1])
        if at == len(self._told) or self._told[at] > place.span().end:
            finding = explain(place)
            self.builder.forget_plain(place.tokens[place.start][1])
            insort(self._told, finding.span.start)
            self.findings.append(finding)

    def _leave_out(self, automaton: Automaton, place: Place, floor: int) -> None:
        """A block within another: say so of the first one there, since who moves that moves them all."""
        brace = automaton.starts[floor - 2]
        if brace not in self._around_blocks:
            self._around_blocks.add(brace)
            self._say(place)
        automaton.forget(floor)
        self._skip(automaton)
        automaton.at += automaton.tokens[automaton.at][0] == "_END"

    def _entry_start(self, automaton: Automaton, floor: int) -> int:
        """The index of the token that the statement or entry begins with."""
        if len(automaton.values) <= floor:
            return automaton.at
        index = automaton.at
        while index > 0 and automaton.tokens[index - 1][1] >= automaton.starts[floor]:
            index -= 1
        return index

    def _mend_statement(self, automaton: Automaton, place: Place, floor: int, read: list[object]) -> None:
        """Keep what the block's first line says, so that nobody misses the name."""
        if read and isinstance(read[0], Block | Import):
            self._skip(automaton)
            return
        head = place.head()
        automaton.forget(floor)
        outside = head and head.name is None and automaton.tokens[head.stop][0] == "EQUAL"
        if head is None or outside or head.kind.text == "import" or place.at > head.stop:
            self._skip(automaton)
            automaton.at += automaton.tokens[automaton.at][0] == "_END"
            return
        facts = (head.kind, head.name, head.parameters, head.base, head.span)
        automaton.put("named_head" if head.name else "head", facts, head.span.start, head.span.end)
        automaton.at = head.stop

    def _mend_entry(self, automaton: Automaton, place: Place, floor: int, read: list[object]) -> None:
        """Keep the entry's key, so that nobody misses it, with a value that is known to be broken."""
        key = read[0] if read and isinstance(read[0], Name | String) else self._key(place)
        automaton.forget(floor)
        if key is None or not automaton.expects("key"):
            self._skip(automaton)
            automaton.at += automaton.tokens[automaton.at][0] == "_END"
            return
        start, end = key.span.start, key.span.end
        automaton.put("key", key, start, end)
        if place.kind() == "EQUAL":
            return
        automaton.put("EQUAL", ("EQUAL", end, end), end, end)
        self._put_broken(automaton)

    def _key(self, place: Place) -> Name | None:
        """The name that the entry begins with, whatever came after it."""
        if place.tokens[place.start][0] != "NAME" or place.at == place.start:
            return None
        span = place.span(place.start - place.at)
        return place.joined_name(place.start) or Name(span.text, span)

    def _put_broken(self, automaton: Automaton) -> None:
        start = automaton.tokens[automaton.at][1]
        self._skip(automaton)
        end = max(start, automaton.tokens[automaton.at][1])
        automaton.put("value", Broken(Span(self.source, start, end)), start, end)

    def _skip(self, automaton: Automaton) -> None:
        """Go to the end of the statement or entry."""
        depth = 0
        while True:
            kind = automaton.tokens[automaton.at][0]
            if kind == "$END" or (depth == 0 and kind in ("_END", "RBRACE")):
                return
            depth += (kind == "LBRACE") - (kind == "RBRACE")
            automaton.at += 1
