"""Finds text that looks like a key, a private key or a password, and masks it.

A pattern is for a shape that issuers document (a fixed beginning and a length); everything
without such a shape counts only beside a word like `password` and when it is random enough.
What is found is never logged or repeated: a finding has a kind and a place.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Secret:
    """Where something that looks like a secret stands. `line` counts from 1; `start` and `end`
    count characters of the text."""

    kind: str
    line: int
    start: int
    end: int


# each shape: its name, a plain piece of text that must occur for it to be tried, the pattern;
# every repetition is bounded or over one class of characters, so that time stays linear
_SHAPES: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (kind, needles, re.compile(pattern))
    for kind, needles, pattern in (
        (
            "private key",
            ("PRIVATE KEY",),
            r"-----BEGIN ((?:[A-Z0-9]{1,12} ){0,3})PRIVATE KEY(?: BLOCK)?-----"
            r"[^-]{20,20000}(?:-----END \1PRIVATE KEY(?: BLOCK)?-----)?",
        ),
        ("AWS access key", ("AKIA", "ASIA"), r"(?<![A-Za-z0-9])A[KS]IA[A-Z2-7]{16}(?![A-Za-z0-9])"),
        (
            "GitHub token",
            ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
            r"(?<![A-Za-z0-9_])gh[pousr]_[A-Za-z0-9]{36,251}",
        ),
        ("GitHub token", ("github_pat_",), r"(?<!\w)github_pat_[A-Za-z0-9_]{50,120}"),
        ("GitLab token", ("glpat-",), r"(?<![\w-])glpat-[A-Za-z0-9_-]{20,64}"),
        (
            "Slack token",
            ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe", "xapp-"),
            r"(?<![\w-])(?:xox[bpars]-|xoxe\.?-?|xapp-)(?=[\w.-]{0,40}\d)[A-Za-z0-9.-]{20,250}",
        ),
        (
            "Slack webhook",
            ("hooks.slack.com",),
            r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{30,120}",
        ),
        (
            "Stripe key",
            ("sk_live_", "rk_live_", "sk_test_", "whsec_"),
            r"(?<![A-Za-z0-9_])(?:[rs]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,247}",
        ),
        ("Google API key", ("AIza",), r"AIza(?<![\w-]AIza)[A-Za-z0-9_-]{35}(?![\w-])"),
        ("Google token", ("ya29.", "GOCSPX-"), r"(?<![\w-])(?:ya29\.|GOCSPX-)[\w-]{20,400}"),
        ("Anthropic key", ("sk-ant-",), r"(?<![\w-])sk-ant-[A-Za-z0-9_-]{20,200}"),
        (
            "OpenAI key",
            ("sk-",),
            r"sk-(?<![\w-]sk-)(?!ant-)(?:proj-|svcacct-|admin-|or-v1-)?(?=[\w-]{0,60}\d)"
            r"(?=[\w-]{0,60}[A-Za-z])[A-Za-z0-9_]{20}[A-Za-z0-9_-]{0,180}",
        ),
        ("Hugging Face token", ("hf_",), r"hf_(?<!\whf_)[A-Za-z]{34}(?!\w)"),
        ("npm token", ("npm_",), r"(?<!\w)npm_[A-Za-z0-9]{36}(?!\w)"),
        ("PyPI token", ("pypi-",), r"(?<![\w-])pypi-AgE[A-Za-z0-9_-]{50,400}"),
        ("SendGrid key", ("SG.",), r"(?<![\w.])SG\.[\w-]{22}\.[\w-]{43}(?![\w-])"),
        ("Twilio key", ("SK",), r"SK(?<![A-Za-z0-9]SK)[0-9a-f]{32}(?![A-Za-z0-9])"),
        ("Telegram token", (":AA",), r"(?<![\w:])\d{8,10}:AA[\w-]{33}(?![\w-])"),
        (
            "Azure key",
            ("AccountKey=", "SharedAccessKey="),
            r"(?:Account|SharedAccess)Key=[A-Za-z0-9+/]{40,90}={0,2}",
        ),
        ("age key", ("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
        (
            "JSON web token",
            ("eyJ",),
            r"(?<![\w-])eyJ[\w-]{10,2000}\.eyJ[\w-]{10,4000}\.[\w-]{20,2000}",
        ),
    )
)

# scheme://user:password@host
_CONNECTION = re.compile(r"://[^\s/:@'\"`<>]{0,80}:([^\s/@'\"`<>]{3,200})@(?=[A-Za-z0-9\[])")
# the end of a name such as DB_PASSWORD, "apiKey" or secret, then = or :, then a value. Begun with
# literal letters and matched from there, which is twenty times faster than trying it everywhere
_NAME = re.compile(r"[pP](?i:ass|wd)|[kK](?i:ey)|[sS](?i:ecret)|[tT](?i:oken)")
_NAMED = re.compile(
    r"(?i)(?P<name>pass(?:words?|wd|phrase)?|pwd|key|secret(?:[_-]?(?:access[_-]?)?key)?|token)"
    r"[\"'`*_]{0,3}[ \t]{0,4}(?:=>|:=|=|:)[ \t*]{0,4}"
    r"(?P<quote>[\"'`]?)(?P<value>[^\s\"'`<>,;]{6,400})"
)
_KEY_OF = re.compile(
    r"(?i)(?:api|access|secret|private|encryption|signing|auth|account|master|shared|service|"
    r"client|app|license)[_ -]?\Z"
)
_BEARER = re.compile(r"[bB](?i:earer|asic) {1,2}([A-Za-z0-9+/_.~-]{20,1000}={0,2})")

_PASSWORDS = ("pass", "pwd")
_PLACEHOLDER = re.compile(
    r"(?i)x{3,}|\*{3,}|\.{3}|…|your|^my|example|sample|changeme|change[_-]?me|placeholder|dummy|"
    r"redacted|secret:|todo|insert|fake|test|hunter2|none|null|undefined|true|false|"
    r"process\.env|os\.environ|getenv|\$\{|\$\(|\{\{|%\(|<[a-z]|1234|abcd|foobar|qwerty|string|"
    r"required|optional|hidden|enter|here"
)
_CODE = re.compile(r"[()\[\]{}]|::|->|^\$|^&|^@|^/|^\.|^#|^https?:|^--")
_HEX = re.compile(r"(?i)[0-9a-f-]+")
_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_WORDS = re.compile(r"[A-Za-z]+(?:[._-][A-Za-z]+)*[.!?]?")


def find_secrets(text: str) -> list[Secret]:
    """All places that look like secrets, in order, none inside another."""
    spans = sorted(_spans(text), key=lambda span: (span[0], -span[1]))
    found: list[Secret] = []
    line, counted, end = 1, 0, -1
    for start, stop, kind in spans:
        if start < end:
            continue
        line += text.count("\n", counted, start)
        counted = start
        found.append(Secret(kind, line, start, stop))
        end = stop
    return found


def mask(text: str) -> tuple[str, list[Secret]]:
    """The text with every secret replaced by `[secret: kind]`, and what was found in it."""
    found = find_secrets(text)
    if not found:
        return text, found
    pieces: list[str] = []
    at = 0
    for secret in found:
        pieces += [text[at : secret.start], f"[secret: {secret.kind}]"]
        at = secret.end
    return "".join(pieces) + text[at:], found


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    for kind, needles, shape in _SHAPES:
        if any(needle in text for needle in needles):
            for match in shape.finditer(text):
                if not _repeats(match.group()):
                    yield match.start(), match.end(), kind
    if "://" in text:
        for match in _CONNECTION.finditer(text):
            if not _PLACEHOLDER.search(match.group(1)) and match.group(1).lower() not in _USUAL:
                yield match.start(1), match.end(1), "password in an address"
    yield from _named(text)
    for match in _BEARER.finditer(text):
        if _random_enough(match.group(1), 3.5) and not _PLACEHOLDER.search(match.group(1)):
            yield match.start(1), match.end(1), "key or token"


def _named(text: str) -> Iterator[tuple[int, int, str]]:
    end, tries = -1, 0
    for begun in _NAME.finditer(text):
        match = _NAMED.match(text, begun.start())
        if match is None:
            continue
        # names inside one long value, as in password=password=password=…
        tries = tries + 1 if match.end() == end or begun.start() < end else 0
        end = match.end()
        if tries > 8:
            continue
        name, value = match.group("name").lower(), match.group("value").rstrip(".,:)*_")
        before = text[max(0, begun.start() - 16) : begun.start()]
        if name == "key" and not _KEY_OF.search(before):
            continue
        if _looks_secret(name, value, bool(match.group("quote"))):
            start = match.start("value")
            kind = "password" if name.startswith(_PASSWORDS) else "key or token"
            yield start, start + len(value), kind


_USUAL = {
    "password",
    "pass",
    "pwd",
    "secret",
    "postgres",
    "root",
    "admin",
    "user",
    "guest",
    "token",
    "repo",
}


def _looks_secret(name: str, value: str, quoted: bool) -> bool:
    if len(value) < 6 or _PLACEHOLDER.search(value) or _CODE.search(value):
        return False
    if _UUID.fullmatch(value) or value.lower() in _USUAL or _repeats(value):
        return False
    if name.startswith(_PASSWORDS):
        if quoted and not _WORDS.fullmatch(value):
            return True
        return _kinds(value) >= 3 or (
            _kinds(value) == 2 and len(value) >= 10 and _turns(value) >= 2
        )
    if len(value) < 16 or _WORDS.fullmatch(value):
        return False
    if _HEX.fullmatch(value):
        return len(value) >= 24 and _random_enough(value, 3.0)
    return _kinds(value) >= 2 and _turns(value) >= 3 and _random_enough(value, 3.4)


def _kinds(value: str) -> int:
    """How many of lower case, upper case, digits and signs it has."""
    return (
        any(c.islower() for c in value)
        + any(c.isupper() for c in value)
        + any(c.isdigit() for c in value)
        + any(not c.isalnum() and c not in "._-" for c in value)
    )


def _turns(value: str) -> int:
    """How often it changes between digits and all else: seldom in names such as `V1Secret`."""
    return sum(a.isdigit() != b.isdigit() for a, b in pairwise(value))


def _random_enough(value: str, bits: float) -> bool:
    """Whether its characters carry at least this many bits each (Shannon), as random ones do."""
    total = len(value)
    entropy = -sum(n / total * math.log2(n / total) for n in Counter(value).values())
    return entropy >= min(bits, math.log2(max(total, 2)) * 0.75)


def _repeats(value: str) -> bool:
    """Whether it is made of a few characters over and over, as examples in manuals are."""
    body = value[-24:]
    return len(set(body)) <= 5
