"""Literals that look like secrets."""

import math
import re
from collections import Counter
from collections.abc import Iterator

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import security as mistakes
from wqc.diagnostics.source import Span
from wqc.language.written import Step, value_place
from wqc.model.workflow import Workflow

_TOKENS = (
    ("an AWS access key", r"\b(AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{36,}\b|\bgithub_pat_[A-Za-z0-9_]{50,}"),
    ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("a Slack token", r"\bxox[abeprs]-[A-Za-z0-9-]{10,}"),
    ("a Slack webhook", r"https://hooks\.slack\.com/services/T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]{16,}"),
    ("a Google API key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("a Stripe key", r"\b[rs]k_live_[A-Za-z0-9]{16,}"),
    ("an API key", r"\bsk-(proj-|ant-|live-)?[A-Za-z0-9_-]{32,}"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("a PyPI token", r"\bpypi-AgEI[A-Za-z0-9_-]{40,}"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{34}\b"),
    ("a SendGrid key", r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    ("an Azure storage key", r"\bAccountKey=[A-Za-z0-9+/]{60,}={0,2}"),
    ("a JSON web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("a private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
)
_TOKEN_FORMS = tuple((what, re.compile(pattern)) for what, pattern in _TOKENS)
# Every form has one of these in it, which one search finds.
_TOKEN_PART = re.compile(
    r"AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|xox|hooks\.slack|AIza|[rs]k_live_|sk-|npm_|pypi-|hf_|SG\.|AccountKey="
    r"|eyJ|-----BEGIN"
)

# What begins like this is filled in elsewhere: by a shell, a template, a person, or read from a file.
_NOT_LITERAL = r"(?![$<{(%/*\[]|x{3,}|\.\.\.)"
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s/:@\"']*:" + _NOT_LITERAL + r"[^\s/@\"']+@")
_ASSIGNMENT = re.compile(
    r"(?i)\b[a-z0-9_.-]*(password|passwd|passphrase|secret|client_secret|api[_-]?key|access[_-]?token|auth[_-]?token)"
    r"[\"']?\s*[=:]\s*[\"']?" + _NOT_LITERAL + r"[^\s\"'&;,]{6,}"
)
_PASSWORDS = ("password", "passwd", "passphrase")
_SECRETS = ("pwd", "secret")
_TOKEN_WORDS = ("token", "credential", "credentials", "apikey")
_KEYS = ("api", "access", "private", "secret", "encryption", "signing", "account", "auth")
_HARMLESS = re.compile(r"(?i)\s*|true|false|yes|no|none|null|\d{1,5}|" + r"[$<{(%/*].*|\w+:(//)?/.*")
_MINIMUM_TOKEN = 12

_SKIPPED = ("image", "brokers", "topic", "match", "path", "where", "key", "cases", "retired", "formerly")


def secrets(workflow: Workflow) -> Iterator[Finding]:
    """Every literal text of the workflow's blocks, and of the library workers that it uses."""
    declarations = [node.declaration for node in workflow.nodes.values()]
    declarations += [worker.declaration for worker in workflow.workers.values()]
    if workflow.manager.declaration:
        declarations.append(workflow.manager.declaration)
    seen = set[Span]()
    for declaration in declarations:
        for attributes in (declaration.attributes, *declaration.members.values()):
            for name, given in attributes.items():
                if name in _SKIPPED:
                    continue
                for path, key, text in _texts(given.value, (), name):
                    what = secret_in(key, text)
                    if not what:
                        continue
                    place = value_place(given.written, path)
                    if place not in seen:
                        seen.add(place)
                        yield mistakes.literal_secret(place, what, _advice(name, key))


def secret_in(key: str, text: str) -> str:
    """What a text looks like that stands under a key: `a password`; `""` for nothing of the kind."""
    if _TOKEN_PART.search(text):
        for what, form in _TOKEN_FORMS:
            if form.search(text):
                return what
    if _URL.search(text):
        return "an address with a password"
    if _ASSIGNMENT.search(text):
        return "a password"
    if _HARMLESS.fullmatch(text):
        return ""
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])", key)]
    if not words:
        return ""
    if words[-1].endswith(_PASSWORDS) or words[-1] in _SECRETS:
        return "a password"
    is_key = words[-1] == "key" and len(words) > 1 and words[-2] in _KEYS
    if (is_key or words[-1] in _TOKEN_WORDS) and _random(text):
        return "a key" if is_key else "a token"
    return ""


def _random(text: str) -> bool:
    """Whether a text is unlikely to be words: long, of letters and digits, hardly a character twice."""
    if len(text) < _MINIMUM_TOKEN or not re.fullmatch(r"[A-Za-z0-9+/=_.~-]+", text):
        return False
    counts = Counter(text)
    entropy = -sum(count / len(text) * math.log2(count / len(text)) for count in counts.values())
    return entropy > 3.0 and bool(re.search(r"\d", text)) and bool(re.search(r"[A-Za-z]", text))


def _texts(value: object, path: tuple[Step, ...], key: str) -> Iterator[tuple[tuple[Step, ...], str, str]]:
    """The texts in a typed value, each with the way to it and the key that it stands under."""
    match value:
        case str():
            yield path, key, value
        case dict():
            for name, inner in value.items():
                yield from _texts(inner, (*path, name), name)
            named, text = value.get("name"), value.get("value")
            if isinstance(named, str) and isinstance(text, str):
                # An entry of a raw `env`: its key is a value.
                yield (*path, "value"), named, text
        case list() | tuple():
            for index, inner in enumerate(value):
                yield from _texts(inner, (*path, index), key)
                following = value[index + 1] if index + 1 < len(value) else None
                if isinstance(inner, str) and inner.startswith("--") and isinstance(following, str):
                    yield (*path, index + 1), inner.lstrip("-"), following


def _advice(attribute: str, key: str) -> str:
    if attribute == "env":
        return f'put it into a Secret of the namespace and refer to it: `{key} = secret("NAME", "KEY")`'
    if attribute in ("url", "endpoint", "management"):
        return (
            "take it out of the address and say `auth = secret(…)`, or what this kind of source has instead"
        )
    if attribute in ("run", "command"):
        return 'let the worker have it as an environment variable: `env = { NAME = secret("NAME", "KEY") }`'
    return "keep it in a Secret of the namespace"
