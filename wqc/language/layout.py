"""Which line ends count, and whether brackets match: what the grammar leaves to the layout.

A newline or a comma between braces ends an entry, a newline outside of brackets a statement; both become
`_END`. A newline doesn't count within `(` and `[`, after a binary operator or before a line that begins with
one.
"""

from collections.abc import Iterator

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import characters, syntax
from wqc.diagnostics.source import Source, Span
from wqc.language.lexer import Token

DEPTH_LIMIT = 64

_CLOSER = {"LBRACE": "RBRACE", "LPAR": "RPAR", "LSQB": "RSQB"}
_OPENER = {closer: opener for opener, closer in _CLOSER.items()}
_SIGN = {"RBRACE": "}", "RPAR": ")", "RSQB": "]"}
_LAYOUT = frozenset({"NEWLINE", "COMMA", "QMARK", *_CLOSER, *_OPENER})
"""All that this module is about."""
_BINARY = frozenset({"OPERATOR", "MINUS", "IN", "QMARK", "RANGE", "DOT"})
_BEGINS_VALUE = frozenset({"STRING", "SCRIPT", "NUMBER", "MEASURE", "LSQB", "LBRACE", "BROKEN"})
_FOLLOWS_NAME = _BINARY | {"NEWLINE", "COMMA", "RBRACE", "LPAR", "LSQB"}


def laid_out(source: Source, words: list[Token], end: int) -> tuple[list[Token], list[Finding]]:
    """The tokens that the grammar is about, up to `$END`, and what is wrong with the brackets.

    All brackets match: where one is missing or too many, it is added or left out.
    """
    tokens: list[Token] = []
    findings: list[Finding] = []
    for first, last in _chunks(source, words):
        chunk = _Chunk(source, words, first, last, by_indentation=False)
        if chunk.mismatched:
            # told apart by indentation only now, since well-matched files may be indented in any way
            chunk = _Chunk(source, words, first, last, by_indentation=True)
        tokens += chunk.tokens
        findings += chunk.findings
    tokens.append(("$END", end, end))
    return tokens, findings


def _chunks(source: Source, words: list[Token]) -> Iterator[tuple[int, int]]:
    """Stretches that each begin with a block in the first column: no bracket reaches over such a line."""
    first = 0
    for at in range(1, len(words) - 1):
        kind, start, _ = words[at]
        if (
            kind == "NAME"
            and words[at - 1][0] == "NEWLINE"
            and words[at + 1][0] in ("NAME", "LBRACE", "STRING")
            and source.text[start - 1] == "\n"
        ):
            yield first, at
            first = at
    yield first, len(words)


class _Chunk:
    def __init__(
        self, source: Source, words: list[Token], first: int, last: int, *, by_indentation: bool
    ) -> None:
        self.source = source
        self.words = words
        self.by_indentation = by_indentation
        self.tokens: list[Token] = []
        self.findings: list[Finding] = []
        self.open: list[Token] = []
        self.stray_end = -1
        self.mismatched = False
        self.closers_to_come = 0
        self.indents: dict[int, int] = {}
        self.before = self._span(words[last]) if last < len(words) else None
        self._read(first, last)

    def _read(self, first: int, last: int) -> None:
        words, tokens, open_brackets = self.words, self.tokens, self.open
        kinds = [word[0] for word in words[first:last]]
        self.closers_to_come = kinds.count("RBRACE") - kinds.count("LBRACE")
        previous = "_END"
        ternary = False
        at = first
        while at < last:
            token = words[at]
            kind = token[0]
            at += 1
            if kind not in _LAYOUT:
                tokens.append(token)
                previous = kind
                continue
            if kind == "NEWLINE":
                following = words[at][0] if at < last else ""
                if open_brackets and open_brackets[-1][0] != "LBRACE":
                    self._close_before_entry(at, last, previous)
                    if open_brackets and open_brackets[-1][0] != "LBRACE":
                        continue
                if previous in ("_END", "LBRACE") or following in _BINARY:
                    continue
                if previous in _BINARY and not self._begins_entry(at, last):
                    continue
                if ternary and "COLON" in (previous, following):
                    continue
                if following == "LBRACE" and not open_brackets and self._brace_on_next_line(words[at]):
                    continue
                if previous == "EQUAL" and self._continues(at, last):
                    self.findings.append(syntax.value_on_next_line(self._span(words[at])))
                    continue
                token = ("_END", token[1], token[1])
                ternary = False
            elif kind == "COMMA":
                if open_brackets and open_brackets[-1][0] == "LBRACE":
                    token = ("_END", token[1], token[2])
                    ternary = False
            elif kind in _CLOSER:
                self.closers_to_come += kind == "LBRACE"
                if len(open_brackets) == DEPTH_LIMIT:
                    finding = characters.too_deep(self._span(token), DEPTH_LIMIT)
                    self.findings.append(finding)
                    at = self._past(at, last)
                    token = ("BROKEN", token[1], words[at - 1][2])
                else:
                    open_brackets.append(token)
            elif kind in _OPENER:
                self.closers_to_come -= kind == "RBRACE"
                if not self._close(token):
                    continue
                tokens.append((kind, token[1], token[2]))
                previous = kind
                continue
            elif kind == "QMARK":
                ternary = True
            tokens.append(token)
            previous = token[0]
        while open_brackets:
            self._close_unclosed(self.before)
        if tokens and tokens[-1][0] != "_END":
            place = tokens[-1][2]
            tokens.append(("_END", place, place))

    def _close(self, token: Token) -> bool:
        """Close what a closing bracket closes; whether it closes anything."""
        kind, opener = token[0], _OPENER[token[0]]
        if not self.open:
            self._stray(token)
            return False
        if self.by_indentation and kind == "RBRACE":
            self._close_deeper(token)
        if self.open[-1][0] != opener:
            if opener not in [bracket[0] for bracket in self.open]:
                wrong = self.open[-1]
                braces = sum(bracket[0] == "LBRACE" for bracket in self.open)
                if wrong[0] == "LBRACE" and self.closers_to_come >= braces:
                    self._stray(token)
                    return False
                self.mismatched = True
                said = syntax.wrong_closer(
                    self._span(token), self._span(wrong), _SIGN[kind], _SIGN[_CLOSER[wrong[0]]]
                )
                self.findings.append(said)
                self.open.pop()
                self._end_entry(_CLOSER[wrong[0]], token[1])
                self.tokens.append((_CLOSER[wrong[0]], token[1], token[2]))
                return False
            while self.open[-1][0] != opener:
                self._close_unclosed(self._span(token))
        self.open.pop()
        self._end_entry(kind, token[1])
        return True

    def _stray(self, token: Token) -> None:
        """Say so of the first of several, and not of one that may have been part of a broken string."""
        self.mismatched = True
        between = self.source.text[self.stray_end : token[1]]
        after_another = self.stray_end > 0 and not between.strip()
        self.stray_end = token[2]
        if not after_another and not (self.tokens and self.tokens[-1][0] == "BROKEN"):
            self.findings.append(syntax.stray_closer(self._span(token), _SIGN[token[0]]))

    def _close_deeper(self, token: Token) -> None:
        """A `}` that begins a line closes the bracket whose line is indented as much, if there is one."""
        indent = self._indent(token[1])
        if indent is None:
            return
        indents = [self._line_indent(bracket[1]) for bracket in self.open]
        if indent in indents:
            while len(self.open) > 1 and self._line_indent(self.open[-1][1]) > indent:
                self._close_unclosed(self._span(token))

    def _close_before_entry(self, at: int, last: int, previous: str) -> None:
        """A line that begins with `name =` can't stand in a list, nor in a call unless after a comma."""
        if not self._begins_entry(at, last):
            return
        if "LBRACE" not in [bracket[0] for bracket in self.open]:
            return
        while self.open[-1][0] == "LSQB" or (
            self.open[-1][0] == "LPAR" and previous not in ("COMMA", "LPAR")
        ):
            self._close_unclosed(self._span(self.words[at]))

    def _close_unclosed(self, before: Span | None) -> None:
        self.mismatched = True
        bracket = self.open.pop()
        closer = _CLOSER[bracket[0]]
        span = self._span(bracket)
        self.findings.append(syntax.unclosed_bracket(span, span.text, _SIGN[closer], before))
        place = self.tokens[-1][2]
        if closer == "RBRACE":
            self._end_entry(closer, place)
            self.tokens.append((closer, place, place))
            return
        # who knows what else of it was meant: nothing of it is used
        while self.tokens.pop() != bracket:
            pass
        self.tokens.append(("BROKEN", bracket[1], place))

    def _end_entry(self, closer: str, place: int) -> None:
        if closer == "RBRACE" and self.tokens[-1][0] not in ("_END", "LBRACE"):
            self.tokens.append(("_END", place, place))

    def _brace_on_next_line(self, brace: Token) -> bool:
        """Whether the brace belongs to the line before, which is said then."""
        begin = len(self.tokens)
        while begin and self.tokens[begin - 1][0] != "_END":
            begin -= 1
        statement = self.tokens[begin:]
        if not statement or not {"RBRACE", "EQUAL"}.isdisjoint(kind for kind, _, _ in statement):
            return False
        head = self.source.text[statement[0][1] : statement[-1][2]]
        self.findings.append(syntax.brace_on_next_line(self._span(brace), head))
        return True

    def _continues(self, at: int, last: int) -> bool:
        """Whether what comes next can only be the value that is missing before it."""
        kind = self.words[at][0] if at < last else ""
        following = self.words[at + 1][0] if at + 1 < last else "NEWLINE"
        if kind == "NAME":
            return following in _FOLLOWS_NAME
        return kind in _BEGINS_VALUE and following not in ("EQUAL", "COLON")

    def _begins_entry(self, at: int, last: int) -> bool:
        return at + 1 < last and self.words[at][0] == "NAME" and self.words[at + 1][0] == "EQUAL"

    def _past(self, at: int, last: int) -> int:
        """The place after the bracket that closes the one before `at`."""
        depth = 1
        while at < last and depth:
            depth += (self.words[at][0] in _CLOSER) - (self.words[at][0] in _OPENER)
            at += 1
        return at

    def _indent(self, place: int) -> int | None:
        """How far a place is indented if nothing stands before it on its line."""
        column = self.source.position(place)[1] - 1
        return column if column == self._line_indent(place) else None

    def _line_indent(self, place: int) -> int:
        """How far the line of a place is indented."""
        number = self.source.position(place)[0]
        if number not in self.indents:
            line = self.source.line(number)
            self.indents[number] = len(line) - len(line.lstrip())
        return self.indents[number]

    def _span(self, token: Token) -> Span:
        return Span(self.source, token[1], token[2])
