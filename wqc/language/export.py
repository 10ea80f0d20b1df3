"""The table of the language as plain data, for editors and other tools."""

from typing import Any

from wqc.language.describe import type_words
from wqc.language.schema import BLOCKS, FUNCTIONS, NAME, PARAM_TYPES, RESERVED
from wqc.language.types import (
    Attribute,
    BlockType,
    CallOf,
    Cel,
    Fraction,
    Function,
    Integer,
    ListOf,
    MapOf,
    OneOf,
    RangeOf,
    ReferenceTo,
    Struct,
    Text,
    Type,
    Word,
)

FORMAT_VERSION = 1
"""Raised when a field goes or changes its meaning; new fields may come without."""

Data = dict[str, Any]

_NAMES = {
    "Text": "string",
    "ScriptText": "script",
    "Flag": "boolean",
    "Fraction": "number",
    "DurationType": "duration",
    "CpuType": "cpu",
    "MemoryType": "memory",
    "RangeOf": "range",
    "ReferenceTo": "reference",
    "CallOf": "call",
    "ListOf": "list",
    "MapOf": "map",
    "Cel": "expression",
}


def schema() -> Data:
    """Blocks, functions and params' types, in the order of the reference."""
    return {
        "format_version": FORMAT_VERSION,
        "name": NAME,
        "reserved": list(RESERVED),
        "blocks": [_block(block) for block in BLOCKS.values()],
        "functions": [_function(function) for function in FUNCTIONS.values()],
        "param_types": {name: _type(takes) for name, takes in PARAM_TYPES.items()},
    }


def _block(block: BlockType) -> Data:
    return {
        "name": block.name,
        "doc": block.doc,
        "named": block.named,
        "attributes": [_attribute(attribute) for attribute in block.attributes],
        "outputs": list(block.outputs),
        "item_fields": dict(block.fields),
        "kinds": [_block(kind) for kind in block.kinds],
    }


def _function(function: Function) -> Data:
    return {
        "name": function.name,
        "doc": function.doc,
        "positional": [_attribute(attribute) for attribute in function.positional],
        "keywords": [_attribute(attribute) for attribute in function.keywords],
    }


def _attribute(attribute: Attribute) -> Data:
    return {
        "name": attribute.name,
        "doc": attribute.doc,
        "required": attribute.required,
        "default": attribute.default or None,
        "type": _type(attribute.type),
    }


def _type(takes: Type) -> Data:
    name = type(takes).__name__
    return {"name": _NAMES.get(name, _snake(name)), "words": type_words(takes), **_details(takes)}


def _details(takes: Type) -> Data:
    match takes:
        case Text(pattern, what):
            return {"pattern": pattern, "pattern_words": what} if pattern else {}
        case Integer(low, high) | Fraction(low, high):
            return {"low": low, "high": high}
        case RangeOf(inner):
            return {"of": _type(inner)}
        case Word(options):
            return {"options": list(options)}
        case ReferenceTo(what):
            return {"to": what}
        case CallOf(functions):
            return {"functions": list(functions)}
        case ListOf(inner, least, distinct):
            return {"of": _type(inner), "least": least, "distinct": distinct}
        case MapOf(inner, keys, what, least):
            return {
                "of": _type(inner),
                "keys": keys or NAME,
                "keys_words": what or "a name",
                "least": least,
            }
        case Struct(fields):
            return {"fields": [_attribute(field) for field in fields]}
        case Cel(result):
            return {"result": result}
        case OneOf(choices):
            return {"choices": [_type(choice) for choice in choices]}
        case _:
            return {}


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
