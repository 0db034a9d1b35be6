"""Vectors from hashed words: for tests, and for machines without any model.

Texts that share words are near each other; meaning plays no part. The same on every machine.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np

from neurigraph.embed.embedder import Vectors, unit_rows

_WORD = re.compile(r"\w+")


class HashEmbedder:
    """Each word adds 1 or -1 to four of 64 places, as its CRC-32 says."""

    name = "hash"
    dim = 64

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, 64), unit rows, zero where a text has no word."""
        vectors = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in _WORD.findall(text.lower()):
                number = zlib.crc32(word.encode("utf-8", "replace"))
                for part in (number >> shift for shift in (0, 8, 16, 24)):
                    # six bits for the place and one for the sign
                    row[part & 63] += 1 if part & 64 else -1
        return unit_rows(vectors)
