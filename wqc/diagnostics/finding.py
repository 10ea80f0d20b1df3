"""What the compiler has to say about a text, as data; the renderers turn it into words on a screen."""

from dataclasses import dataclass
from enum import Enum

from wqc.diagnostics.source import Span


class Level(Enum):
    """How bad a finding is (design, section 6): it can't work; it works but will hurt; advice."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Label:
    """A further place that a finding speaks of, such as "declared here"."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found.

    `message` is one line, lower case, without a full stop; `label` stands under the primary `span`; `help`
    says what to do
    and may have several lines (a block to write, say).
    """

    code: str
    level: Level
    message: str
    span: Span
    label: str = ""
    also: tuple[Label, ...] = ()
    help: str = ""
