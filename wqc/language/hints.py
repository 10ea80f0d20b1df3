"""What to write instead of a value of the wrong form, where that can be told from the value."""

import re
from collections.abc import Sequence

from wqc.diagnostics.mistakes.params import EACH_IS_WHOLE
from wqc.diagnostics.suggestion import nearest
from wqc.language import syntax
from wqc.language.types import (
    CallOf,
    Flag,
    Fraction,
    Integer,
    ListOf,
    RangeOf,
    ReferenceTo,
    ScriptText,
    Text,
    Type,
    Word,
)

_FLAGS = {"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}


def form_hint(value: syntax.Value, type: Type, params: Sequence[str]) -> str:
    """Help for a value that an attribute of `type` doesn't take, `params` being what a name may stand for;
    empty where nothing explains it.
    """
    choices = getattr(type, "choices", (type,))
    texts = any(isinstance(choice, Text | ScriptText) for choice in choices)
    words = any(isinstance(choice, Word | Flag | ReferenceTo) for choice in choices)
    match value, type:
        case syntax.Path(), _ if value.text.startswith("each."):
            return EACH_IS_WHOLE
        case syntax.Measure(), Integer() | Fraction() | RangeOf():
            return "this attribute has no unit"
        case ((syntax.Number() | syntax.Measure() | syntax.Constant()), _) if texts:
            return f'put it in quotes: "{value.span.text}"'
        case syntax.Path(), _ if texts:
            near = nearest(value.text, params)
            otherwise = f"did you mean `{near}`?" if near else f"there is no param `{value.text}`"
            return f'write "{value.text}" if the text is meant; {otherwise}'
        case syntax.Path(), Word(options) if near := nearest(value.text.lower(), options):
            return f"did you mean `{near}`?"
        case syntax.Path(), Flag() if value.text.lower() in _FLAGS:
            return f"write `{_FLAGS[value.text.lower()]}`"
        case syntax.Path(), _ if near := nearest(value.text, params):
            return f"did you mean `{near}`?"
        case syntax.Path(), _ if not words:
            return f"there is no param `{value.text}`"
        case syntax.String(parts=(str(text),)), Word(options) if text in options:
            return f"write it without quotes: {text}"
        case syntax.String(parts=(str(text),)), ReferenceTo() if re.fullmatch(r"[a-z][\w.]*", text):
            return f"write it without quotes: {text}"
        case syntax.String(), CallOf(functions=(function, *_), needs=("key",)):
            return f'put it into a Secret of the namespace, and name that: `{function}("NAME", "KEY")`'
        case syntax.String(), CallOf(functions=(function, *_)):
            return f"did you mean `{function}({value.span.text})`?"
        case syntax.String(parts=(str(text),)), ListOf(inner=Text()) if re.fullmatch(r"[-\w./=:, ]+", text):
            return "did you mean `[" + ", ".join(f'"{word}"' for word in text.split()) + "]`?"
        case syntax.String(parts=(str(text),)), _ if not texts and re.fullmatch(
            r"[\d.]+\w*|true|false", text
        ):
            return f"write it without quotes: {text}"
        case syntax.ListValue(items), Text(pattern):
            joined = ",".join(item.span.text.strip('"') for item in items if isinstance(item, syntax.String))
            return f'did you mean `"{joined}"`?' if re.fullmatch(pattern or "[^,]+", joined) else ""
        case syntax.Expression(span), RangeOf():
            bounds = re.fullmatch(r"(\w+)\s*-\s*(\w+)", span.text)
            return f"did you mean `{bounds[1]}..{bounds[2]}`?" if bounds else ""
        case syntax.Expression(span), ReferenceTo() if re.fullmatch(r"[a-z]\w*(-\w+)+", span.text):
            return f"names have no `-`: did you mean `{span.text.replace('-', '_')}`?"
    return ""
