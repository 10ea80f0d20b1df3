"""From text to words, whatever the text."""

import re
from dataclasses import dataclass, field

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import characters as mistakes
from wqc.diagnostics.source import Source, Span
from wqc.language.tables import IGNORED, WORDS

Token = tuple[str, int, int]
"""What it is, and the character offsets of its start and end."""

SIZE_LIMIT = 4 * 1024 * 1024
"""Characters in a file."""

_QUOTES = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2018\u2019\u201a\u201b"
"""Double and single ones of several languages."""

_HABITS = (r"(?P<FOREIGN_COMMENT>//[^\n]*|/\*(?s:.*?)(?:\*/|\Z))",)
_JUNK = (
    r"(?P<BAD_NUMBER>[0-9][0-9A-Za-z_]*(?:\.[0-9A-Za-z_]+)*)",
    r"(?P<UNCLOSED>[\"'][^\n]*)",
    r"(?P<SEMICOLON>;(?:[ \t]*;)*)",
    r"(?P<HOLE>\$\{[^}\n]*\}?)",
    rf"(?P<CURVED>[{_QUOTES}][^\n{_QUOTES}\"]*[{_QUOTES}\"]?)",
    rf"(?P<STRAY>[$@~`\\^&|]+|(?s:.)[^\x09\x0a\x20-\x7e{_QUOTES}]*)",
)
# With the blanks before it, which then needn't be words of their own.
_WORD = re.compile(rf"[ \t]*(?:{'|'.join((*_HABITS, *WORDS, *_JUNK))})")
_PLAIN = frozenset(re.findall(r"\(\?P<(\w+)>", "".join(WORDS))) - frozenset(IGNORED)
_BLOCK_LINE = re.compile(r"\n(?=\}|[a-z]\w*[ \t][^\n{]*\{)")
_NEXT_ENTRY = re.compile(r",[ \t]+[a-z][a-z0-9_]*[ \t]*=")
_LOOKALIKES = {
    "\u00a0": "a space",
    "\u2013": "`-`",
    "\u2014": "`-`",
    "\u2212": "`-`",
    "\u2026": "`...`",
    "\uff1a": "`:`",
    "\uff0c": "`,`",
    "\uff1d": "`=`",
}


@dataclass(slots=True)
class Words:
    """`tokens` has the newlines, and `BROKEN` where a finding says that a value is."""

    tokens: list[Token] = field(default_factory=list)
    comments: list[Token] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def words(source: Source, start: int, end: int) -> Words:
    """The words of `source.text[start:end]`."""
    if end - start > SIZE_LIMIT:
        span = Span(source, start, min(end, start + 1))
        return Words(findings=[mistakes.too_large(span, end - start, SIZE_LIMIT)])
    return _Lexer(source, end).words(start)


class _Lexer:
    def __init__(self, source: Source, end: int) -> None:
        self.source = source
        self.text = source.text
        self.end = end
        self.found = Words()
        self.scripts_searched = False
        self.line_searched = -1

    def words(self, start: int) -> Words:
        text, tokens, comments = self.text, self.found.tokens, self.found.comments
        at = start
        while at < self.end:
            for match in _WORD.finditer(text, at, self.end):
                kind = match.lastgroup
                assert kind is not None
                begin, finish = match.span(kind)
                if kind in _PLAIN and not (kind == "STRING" and text.startswith('"""', begin)):
                    tokens.append((kind, begin, finish))
                elif kind == "NEWLINE":
                    if not tokens or tokens[-1][0] != "NEWLINE":
                        tokens.append((kind, begin, finish))
                elif kind == "COMMENT":
                    comments.append((kind, begin, finish))
                elif kind != "BLANK":
                    at = self._mend(kind, begin, finish)
                    if at != finish:
                        break
            else:
                break
        return self.found

    def _mend(self, kind: str, start: int, end: int) -> int:
        """Say what is wrong with what no word matches, and return where to go on."""
        written = self.text[start:end]
        match kind:
            case "STRING":
                return self._unclosed_script(start)
            case "UNCLOSED":
                return self._unclosed_string(start, end)
            case "BAD_NUMBER":
                meant = written.replace("_", "")
                meant = meant if re.fullmatch(r"[0-9]+(\.[0-9]+)?[A-Za-z]*", meant) else ""
                self._say(
                    mistakes.malformed_number(self._span(start, end), written, meant), "BROKEN", start, end
                )
            case "CURVED":
                inner = written.strip(_QUOTES + '"')
                self._say(mistakes.typographic_quotes(self._span(start, end), inner), "BROKEN", start, end)
            case "HOLE":
                advice = f"outside of strings a param is its name alone: `{written[2:].rstrip('}')}`"
                self._say(
                    mistakes.stray_character(self._span(start, start + 2), "`${`", advice),
                    "BROKEN",
                    start,
                    end,
                )
            case "SEMICOLON":
                self._say(mistakes.semicolon(self._span(start, end)), "NEWLINE", start, end)
            case "FOREIGN_COMMENT":
                self.found.comments.append(("COMMENT", start, end))
                inner = written[2:].removesuffix("*/").strip()
                said = mistakes.foreign_comment(
                    self._span(start, start + 2), written[:2], "" if "\n" in inner else inner
                )
                self.found.findings.append(said)
                if "\n" in written:
                    self.found.tokens.append(("NEWLINE", end, end))
            case _:
                return self._stray(start, end)
        return end

    def _stray(self, start: int, end: int) -> int:
        tokens = self.found.tokens
        written = self.text[start:end]
        if written[0].isalpha():
            # part of a name: the whole of it is what isn't one
            if tokens and tokens[-1][0] == "NAME" and tokens[-1][2] == start:
                start = tokens.pop()[1]
            while end < self.end and (self.text[end].isalnum() or self.text[end] == "_"):
                end += 1
            said = mistakes.malformed_name(self._span(start, end), self.text[start:end], "")
            self._say(said, "NAME", start, end)
            return end
        character = written[0]
        name = f"`{character}`" if character.isprintable() else f"the character U+{ord(character):04X}"
        alike = _LOOKALIKES.get(character)
        advice = f"write {alike}, which it looks like" if alike else "remove it"
        self.found.findings.append(mistakes.stray_character(self._span(start, end), name, advice))
        return end

    def _unclosed_string(self, start: int, line_end: int) -> int:
        """An earlier one of the line may have been closed by the beginning of the next."""
        tokens, text = self.found.tokens, self.text
        line_start = text.rfind("\n", 0, start) + 1
        index = suspect = len(tokens)
        while line_start > self.line_searched and index and tokens[index - 1][1] >= line_start:
            index -= 1
            kind, begin, end = tokens[index]
            if kind == "STRING" and (text[end].isalnum() or _NEXT_ENTRY.search(text, begin, end)):
                suspect = index
        self.line_searched = line_start
        if suspect < len(tokens):
            start = tokens[suspect][1]
            del tokens[suspect:]
            self.found.findings[:] = [
                finding for finding in self.found.findings if finding.span.start < start
            ]
        following = _NEXT_ENTRY.search(text, start, line_end)
        # closing brackets at the line's end are more likely the file's than the string's
        end = following.start() if following else start + len(text[start:line_end].rstrip(" \t)]},"))
        end = max(end, start + 1)
        self._say(mistakes.unclosed_string(self._span(start, start + 1), text[start]), "BROKEN", start, end)
        return end

    def _unclosed_script(self, start: int) -> int:
        """It may have begun earlier, and what closes it be the beginning of the next one."""
        tokens, findings = self.found.tokens, self.found.findings
        if not self.scripts_searched:
            self.scripts_searched = True
            for index, (kind, begin, finish) in enumerate(tokens):
                if kind == "SCRIPT" and _BLOCK_LINE.search(self.text, begin, finish):
                    del tokens[index:]
                    self.found.comments[:] = [
                        comment for comment in self.found.comments if comment[1] < begin
                    ]
                    findings[:] = [finding for finding in findings if finding.span.start < begin]
                    start = begin
                    break
        line = _BLOCK_LINE.search(self.text, start, self.end)
        end = line.start() if line else self.end
        if not self.text.startswith("\n}", end):
            end = max(start + len(self.text[start:end].rstrip(" \t\n)]},")), start + 3)
        self._say(mistakes.unclosed_script(self._span(start, start + 3)), "BROKEN", start, end)
        return end

    def _say(self, finding: Finding, kind: str, start: int, end: int) -> None:
        self.found.findings.append(finding)
        self.found.tokens.append((kind, start, end))

    def _span(self, start: int, end: int) -> Span:
        return Span(self.source, start, end)
