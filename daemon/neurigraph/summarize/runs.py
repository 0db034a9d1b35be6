"""Keywords where words are not set apart or end in particles: Chinese, Japanese, Korean."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from neurigraph.summarize.languages import DULL, stop_words
from neurigraph.summarize.phrases import TOKEN
from neurigraph.summarize.prose import Sentence

_SCRIPTS = {
    "ja": re.compile(
        r"[\u30a0-\u30ffー]{3,}|[\u3400-\u9fff々]{2,}[\u30a0-\u30ffー]+|[\u3400-\u9fff々]{2,8}"
    ),
    "zh": re.compile(r"[\u3400-\u9fff]{2,}"),
}
_ASIAN_DULL = re.compile(
    r"[一二三四五六七八九十百千万何数毎週今来昨前後第每两几多个]+[\u3400-\u9fff]?$|[一二三四五六七八九十百千万何数毎週第两几]"
    r"|場合|時期|必要|方法|自分|以上|以下|以内|程度|大切|良い|本当|問題|最初|最後|今日|明日|昨日|時間|週末|二回"
)
_CHINESE_FORM = re.compile(
    r"大约|大概|可以|应该|因为|所以|如果|但是|不过|已经|还是|或者|什么|怎么|这样|那样|这个|那个|我们|你们|他们"
    r"|一个|一份|一块|没有|不能|需要|建议|有点|比较|非常|很多|另外|而且|以后|之前|之后|时候|就是|不是|只是|完全|必须"
    r"|办法|东西|问题|事情|方便|有什么|多少|部分|经常|大家|自己|想要|决定|确定|够了|最好"
    r"|[的了是在和与把被就不也都还很有我你他她它这那吗呢吧啊要会能没而但用到从对于为之其及让给去来上下里中等想每只又再更最"
    r"一二三四五六七八九十百千万两几个块张份只种本次]"
)


_KOREAN = re.compile(r"[\uac00-\ud7a3]{2,}")
_PARTICLE = re.compile(
    r"(?<=..)(?:에서는|으로는|에게는|에서|에게|까지|부터|처럼|으로|하고|이나|은|는|이|가|을|를|에|의|로|와|과|도|만|나)$"
)
_KOREAN_VERB = re.compile(
    r"(?:다|요|까|세요|니다|하는|하고|해서|려고|면서|지만|는데|면|있는|없는|된|할|한|하게|도록|습니까)$"
)


def runs(sentences: Sequence[Sentence], language: str) -> list[tuple[str, float]]:
    """Runs of characters that may be words, and Latin words among them, each with a score."""
    counts: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    latin: Counter[str] = Counter()
    for sentence in sentences:
        for run in _cut(sentence.text, language):
            whole[run] += 1
            if language == "zh":
                for size in range(2, min(6, len(run)) + 1):
                    counts.update(run[at : at + size] for at in range(len(run) - size + 1))
        latin.update(
            token
            for token in TOKEN.findall(sentence.text)
            if token.isascii() and token[0].isalpha() and len(token) > 1
        )
    if language != "zh":
        counts.update(whole)
    longer: dict[str, int] = {}
    for run, count in counts.items():
        for part in (run[:-1], run[1:]):
            longer[part] = max(longer.get(part, 0), count)
    skip = stop_words("en") | DULL
    found = [
        (run, math.sqrt(count - 0.9 * longer.get(run, 0)) * (1 + 0.25 * min(len(run), 5)))
        for run, count in counts.items()
        if not _ASIAN_DULL.match(run)
        and (count > 1 or (whole[run] and len(run) < 6))
        and count > longer.get(run, 0)
    ]
    found += [(w, math.sqrt(count) * 1.8) for w, count in latin.items() if w.lower() not in skip]
    return found


def _cut(text: str, language: str) -> Iterator[str]:
    if language == "ko":
        for word in _KOREAN.findall(text):
            bare = _PARTICLE.sub("", word)
            if not _KOREAN_VERB.search(bare):
                yield bare
    elif language == "zh":
        yield from _SCRIPTS["zh"].findall(_CHINESE_FORM.sub(" ", text))
    else:
        yield from _SCRIPTS["ja"].findall(text)
