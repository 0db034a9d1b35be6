"""Reads JSON of any size piece by piece: the elements of one great array, or lines."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

from neurigraph.importers.source import CHUNK

_SPACE = re.compile(r"[ \t\r\n]*")
_OUTSIDE = re.compile(r'["{}\[\]]')
_INSIDE = re.compile(r'["\\]')
_DECODER = json.JSONDecoder(strict=False)
# an error this close to the end of what was read so far may only mean that more is to come
_MARGIN = 16

HEAD = 1 << 18
"""How many characters (or bytes) of a file are looked at to tell what it is."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A piece that was left out, and why. `ended` says that nothing after it could be read, `cut`
    that the file ends there in the middle."""

    reason: str
    ended: bool = False
    cut: bool = False


class Line(NamedTuple):
    """One line of a log. `ended` is false for a last line that lacks its line break; `data` is
    None for a line over the bound, which was passed over without keeping it."""

    number: int
    data: bytes | None
    size: int
    ended: bool


def lines(stream: BinaryIO, limit: int) -> Iterator[Line]:
    """The lines of a stream, none of them longer than `limit` bytes in memory."""
    number = 0
    while data := stream.readline(limit + 1):
        number += 1
        size, ended = len(data), data.endswith(b"\n")
        if size <= limit or ended:
            yield Line(number, data, size, ended)
            continue
        del data
        while not ended and (more := stream.readline(CHUNK)):
            size += len(more)
            ended = more.endswith(b"\n")
        yield Line(number, None, size, ended)


def elements(stream: BinaryIO, limit: int, key: str = "conversations") -> Iterator[Any | Broken]:
    """The elements of a JSON array, one in memory at a time.

    The array may be the whole file or stand under `key` of one object; an object without that
    key, or several one after another, are taken as the elements themselves. An element over
    `limit` characters, nested too deeply or not valid is passed over as `Broken`.
    """
    text = _Text(stream, limit)
    first = text.peek()
    if first == "[":
        text.take()
        yield from _array(text)
        return
    if first == "{" and text.starts_with_key(key):
        yield from _wrapped(text, key)
        return
    while text.peek():
        value = text.value()
        yield value
        if isinstance(value, Broken) and value.ended:
            return


def count_elements(stream: BinaryIO, limit: int) -> int | None:
    """How many elements `elements` will give; None when the file is cut off."""
    count, cut = 0, False
    for element in elements(stream, limit):
        count += 1
        cut = isinstance(element, Broken) and element.cut
    while stream.read(CHUNK):  # to the end, where a zip checks what it gave
        continue
    return None if cut else count


def _array(text: _Text) -> Iterator[Any | Broken]:
    if text.peek() == "]":
        text.take()
        return
    while True:
        value = text.value()
        yield value
        if isinstance(value, Broken) and value.ended:
            return
        after = text.take()
        if after == "]":
            return
        if after != ",":
            yield Broken(_LOST, ended=True) if after else _CUT
            return
        if text.peek() == "]":  # a trailing comma, as some tools write it
            return


_CUT = Broken("the file ends in the middle", ended=True, cut=True)
_LOST = "the JSON is damaged here; the rest of the file cannot be read"


def _wrapped(text: _Text, key: str) -> Iterator[Any | Broken]:
    text.take()
    while text.peek() == '"':
        name = text.value()
        if text.take() != ":":
            break
        if name == key and text.peek() == "[":
            text.take()
            yield from _array(text)
            return
        text.value()
        if text.take() != ",":
            break
    yield Broken(_LOST, ended=True)


class _Text:
    """The not yet consumed part of a stream of characters."""

    def __init__(self, stream: BinaryIO, limit: int) -> None:
        self._stream, self._limit = stream, limit
        self._decode = codecs.getincrementaldecoder("utf-8-sig")(errors="replace").decode
        self._text, self._at, self._ended = "", 0, False

    def _more(self, size: int = CHUNK) -> bool:
        """Drop what was consumed and read on; False at the end of the stream."""
        if self._ended:
            return False
        data = self._stream.read(size)
        self._ended = not data
        self._text = self._text[self._at :] + self._decode(data, final=self._ended)
        self._at = 0
        return not self._ended

    def peek(self) -> str:
        """The next character that is no space, or nothing at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more() and self._at >= len(self._text):
                return ""

    def take(self) -> str:
        """Consume the next character that is no space."""
        found = self.peek()
        self._at += len(found)
        return found

    def starts_with_key(self, key: str) -> bool:
        """Whether the object that begins here has this key near its start, not in a deeper one."""
        return key in top_keys(self._text[self._at : self._at + HEAD])[0]

    def value(self) -> Any | Broken:
        """The next value, consumed."""
        if not self.peek():
            return _CUT
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                held = len(self._text) - self._at
                cut = error.pos >= len(self._text) - _MARGIN or error.msg.startswith("Unterm")
                if cut and not self._ended:
                    if held > self._limit:
                        return self._skip(f"over {self._limit // 10**6} MB of JSON")
                    self._more(max(held, CHUNK))
                elif cut:
                    return _CUT
                else:
                    return self._skip(f"not valid JSON ({error.msg})")
            except RecursionError:
                return self._skip("nested too deeply")
            except ValueError as error:  # a number of thousands of digits
                return self._skip(f"not valid JSON ({error})")
            else:
                if end - self._at > self._limit:
                    self._at = end
                    return Broken(f"over {self._limit // 10**6} MB of JSON")
                self._at = end
                return value

    def _skip(self, reason: str) -> Broken:
        """Pass over an object or array by its brackets alone, keeping nothing of it."""
        depth, inside = 0, False
        while True:
            if self._at >= len(self._text) and not self._more():
                return Broken(f"{reason}, and the file ends there", ended=True, cut=True)
            match = (_INSIDE if inside else _OUTSIDE).search(self._text, self._at)
            if match is None:
                self._at = len(self._text)
                continue
            self._at = match.end()
            mark = match.group()
            if mark == '"':
                inside = not inside
            elif mark == "\\":
                if self._at >= len(self._text):
                    self._more()
                self._at += 1
            else:
                depth += 1 if mark in "{[" else -1
            if depth <= 0 and not inside:
                return Broken(reason, ended=depth < 0)


_TOKENS = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?|[{}\[\]]', re.DOTALL)


def top_keys(head: str) -> tuple[set[str], set[str]]:
    """From the beginning of a JSON document: the keys of the outermost object, and those of the
    objects directly inside it or inside the outermost array. A cut-off end does no harm."""
    outer: set[str] = set()
    inner: set[str] = set()
    stack: list[str] = []
    for match in _TOKENS.finditer(head):
        mark = match.group()
        if mark in "{[":
            stack.append(mark)
        elif mark in "}]":
            if stack:
                stack.pop()
            if not stack:
                break
        elif match.group(2):
            if stack == ["{"]:
                outer.add(match.group(1))
            elif (len(stack) == 2 and stack[1] == "{") or stack == ["{", "[", "{"]:
                inner.add(match.group(1))
    return outer, inner
