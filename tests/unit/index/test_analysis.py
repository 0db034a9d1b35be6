import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.index.analysis import Vocabulary, chunks, query_terms, spans, tokens, words


def finds(query: str, text: str) -> bool:
    held = set(tokens(text))
    return all(
        {word.term for word in chunk.words} <= held or bool(held.intersection(chunk.extras))
        for chunk in chunks(query)
    )


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("cafe", "a café"),
        ("café", "a cafe\u0301"),
        ("CAFÉ", unicodedata.normalize("NFD", "das Café.")),
        ("Muller", "Frau Müller"),
        ("елка", "Новогодняя Ёлка"),
        ("Strasse", "die Straße"),
        ("istanbul", "İstanbul"),
        ("smorrebrod", "smørrebrød"),
        ("京都", "東京都に行く"),
        ("東京", "昨日、東京都に行った"),
        ("한국어", "저는 한국어를 배워요"),
        ("ภาษา", "ฉันเรียนภาษาไทย"),
        ("हिन्दी", "वह हिन्दी बोलता है"),
        ("🎉", "done🎉!"),
        ("C++", "we wrote it in C++."),
        ("c#", "the C# compiler"),
        ("node.js", "runs on Node.js, too"),
        ("nodejs", "runs on node.js"),
        ("node", "runs on node.js"),
        ("snake_case", "def snake_case(x):"),
        ("user id", "row.user_id"),
        ("userId", "row.user_id"),
        ("user name", "getUserName()"),
        ("getusername", "getUserName()"),
        ("github actions", "GitHub Actions"),
        ("john.doe@example.com", "write to <john.doe@example.com>!"),
        ("example.com", "see https://example.com/a/b?c=d#e"),
        ("e-mail", "an email"),
        ("email", "an e-mail"),
        ("Caroline", "Caroline's guitar, Caroline’s song"),
        ("dont", "I don’t know"),
        ("O'Brien", "Mr O’Brien"),
        ("2026-11-30", "on 2026-11-30T10:00"),
        ("3.14", "pi is 3.14"),
        ("AT&T", "from AT&T"),
        ("running", "he runs"),
        ("to be or not to be", "To be, or not to be"),
        ("#project", "a #project/alpha tag"),
        ("ＡＢＣ", "abc"),
    ],
)
def test_what_people_type_is_found(query: str, text: str) -> None:
    assert finds(query, text)


def test_a_language_of_one_letter_is_not_another() -> None:
    assert not finds("C++", "vitamin C")
    assert not finds("3.14", "room 314")
    assert not finds("no", "node.js")


def test_words_keep_their_order_and_place() -> None:
    text = "Don't use “node.js” — use Ёлка 東京都!"
    found = [(w.term, text[w.start : w.end]) for w in spans(text)]
    assert found == [
        ("dont", "Don't"),
        ("use", "use"),
        ("node", "node"),
        ("js", "js"),
        ("use", "use"),
        ("елка", "Ёлка"),
        ("東京", "東京"),
        ("京都", "京都"),
    ]
    assert words(text) == [term for term, _ in found]


def test_what_is_sought_leaves_tails_out() -> None:
    assert query_terms("京都 京都 node.js") == ["京都", "node", "js", "nodej"]
    assert tokens("京都") == ["京都", "都"]
    assert query_terms("") == query_terms("!? -- …") == []


def test_endless_strings_make_short_terms() -> None:
    assert all(len(t) <= 64 for t in tokens("A" * 5000 + " " + "ab.cd-" * 900 + "é" * 700))


TEXTS = st.text(
    st.one_of(
        st.sampled_from([*"abcAB12 .'-_+#@\n\t’—“é東京ё\u0301İ🎉"]),
        st.characters(),
    ),
    max_size=60,
)


@settings(deadline=None, max_examples=150)
@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_many_texts_at_once_read_as_each_alone(texts: list[str]) -> None:
    vocabulary = Vocabulary()
    found = vocabulary.analyse(texts)
    names = [t.decode("utf-8", "surrogatepass") for t in vocabulary.terms]
    begin = 0
    for number, (text, end) in enumerate(zip(texts, found.ends.tolist(), strict=True)):
        alone = spans(text)
        assert [names[i] for i in found.ids[begin:end]] == [w.term for w in alone]
        assert found.starts[begin:end].tolist() == [w.start for w in alone]
        extras = found.extras[found.extra_text == number]
        everything = [names[i] for i in found.ids[begin:end]] + [names[i] for i in extras]
        assert sorted(everything) == sorted(tokens(text))
        begin = end


@settings(deadline=None, max_examples=150)
@given(TEXTS)
def test_any_text_has_sensible_terms(text: str) -> None:
    for word in spans(text):
        assert 0 < len(word.term) <= 64
        assert 0 <= word.start < word.end <= len(text)
    assert all(term and " " not in term and "\n" not in term for term in tokens(text))
