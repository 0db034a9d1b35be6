"""Keys and passwords are found where they are, and ordinary text is left alone.

The examples are put together at run time, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import hashlib
import random
import string
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.importers.secrets import find_secrets, mask

_RANDOM = random.Random(5)


def some(length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """Random characters, with at least two digits where the alphabet has any."""
    found = [_RANDOM.choice(alphabet) for _ in range(length)]
    if "7" in alphabet:
        found[1], found[-2] = "7", "3"
    return "".join(found)


UPPER = string.ascii_uppercase + "234567"
PEM = "-----{} RSA PRIVATE KEY-----"
FOUND = [
    ("AWS access key", "AK" + "IA" + some(16, UPPER)),
    ("GitHub token", "gh" + "p_" + some(36)),
    ("GitHub token", "github" + "_pat_" + some(22) + "_" + some(59)),
    ("GitLab token", "gl" + "pat-" + some(20)),
    ("Slack token", "xo" + "xb-" + "123456789012-" + some(24)),
    ("Slack webhook", "https://hooks." + "slack.com/services/T0AB/B0CD/" + some(24)),
    ("Stripe key", "sk_" + "live_" + some(24)),
    ("Google API key", "AI" + "za" + some(35)),
    ("Google token", "GOC" + "SPX-" + some(28)),
    ("Anthropic key", "sk-" + "ant-api03-" + some(80)),
    ("OpenAI key", "sk-" + "proj-" + some(48)),
    ("OpenAI key", "sk-" + some(48)),
    ("Hugging Face token", "h" + "f_" + some(34, string.ascii_letters)),
    ("npm token", "np" + "m_" + some(36)),
    ("SendGrid key", "S" + "G." + some(22) + "." + some(43)),
    ("Twilio key", "S" + "K" + some(32, "0123456789abcdef")),
    ("Telegram token", "123456789" + ":AA" + some(33)),
    ("JSON web token", "ey" + "J" + some(30) + ".ey" + "J" + some(60) + "." + some(43)),
    ("age key", "AGE-SECRET" + "-KEY-1" + some(58, UPPER)),
    ("private key", PEM.format("BEGIN") + "\n" + some(64) + "\n" + PEM.format("END")),
]


@pytest.mark.parametrize(("kind", "secret"), FOUND, ids=[kind for kind, _ in FOUND])
def test_well_known_keys_are_found_whole_and_masked(kind: str, secret: str) -> None:
    text = f"line one\nHere it is: `{secret}`, keep it.\n"
    masked, found = mask(text)
    assert [(s.kind, s.line, text[s.start : s.end]) for s in found] == [(kind, 2, secret)]
    assert masked == f"line one\nHere it is: `[secret: {kind}]`, keep it.\n"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('password = "Tr0ub4dor&3"', "Tr0ub4dor&3"),
        ("DB_PASSWORD=zK9pQ2mW7x", "zK9pQ2mW7x"),
        ('{"apiKey": "9f8e7d6c5b4a39281706f5e4d3c2b1a0"}', "9f8e7d6c5b4a39281706f5e4d3c2b1a0"),
        ("client_secret: kT8vQ2nX5bW9rL3jM6pS", "kT8vQ2nX5bW9rL3jM6pS"),
        (
            "aws_secret_access_key = wJ4rXU/K7M9Eng2bPxRf8iCYzQp0LkEY",
            "wJ4rXU/K7M9Eng2bPxRf8iCYzQp0LkEY",
        ),
        ("postgres://bob:s3cr3tPw9@db.local:5432/x", "s3cr3tPw9"),
        ("redis://:p4ss0rDx2@cache:6379", "p4ss0rDx2"),
        ("Authorization: Bearer 4f9aK2mPq8XzR7tLw3Vn6Yc1", "4f9aK2mPq8XzR7tLw3Vn6Yc1"),
    ],
)
def test_passwords_and_keys_beside_their_names(text: str, secret: str) -> None:
    assert [text[s.start : s.end] for s in find_secrets(text)] == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "I forgot my password: it was something with flowers.",
        "The key: practise every day. The secret: patience, above all.",
        "password: yourpasswordhere",
        'api_key = os.environ["API_KEY"]',
        "api_key=YOUR_API_KEY_GOES_IN_THIS_PLACE_1",
        "token: ${{ secrets.GITHUB_TOKEN_FOR_RELEASES_2 }}",
        "const token = await getToken(request.headers.authorization);",
        "password = getpass.getpass()",
        "Passwords: at least 12 characters, 2 digits.",
        "password=<password>  pwd=$(pwd)  secret=xxxxxxxxxxxxxxxxxxxx",
        "id: 7f3a2c1b-1234-4cde-8abc-0123456789ab",
        "commit 5c1e09ab7f3a2c1b5c1e09ab7f3a2c1b5c1e09ab",
        "sha256: " + hashlib.sha256(b"x").hexdigest(),
        "primary_key: " + hashlib.sha256(b"y").hexdigest(),
        "a task-based approach: ask-and-answer, desk-1234567890-abcdefghijkl",
        "https://example.org/path?page=2 and mailto:me@example.org",
        "postgres://user:password@localhost/db and ssh://git@github.com:22/x",
        "The token: a small unit of text. Tokens: 48211. max_tokens: 4096000000",
        "secret_key_base and private_key: Ed25519PrivateKey",
        "sk-learn, sk-SK locale, AKIA is a prefix, ghp_ too, xoxb- as well",
        "Basic understanding of the fundamentals; bearer of good news",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0\n-----END PUBLIC KEY-----",
        "monkey: 9aK2mPq8XzR7tLw3Vn6Yc1 hockey = 4f9aK2mPq8XzR7tLw3Vn",
    ],
)
def test_ordinary_prose_and_code_are_left_alone(text: str) -> None:
    assert find_secrets(text) == []


def test_what_is_found_does_not_say_the_secret() -> None:
    secret = FOUND[1][1]
    assert secret not in repr(find_secrets(secret))


def test_a_private_key_that_is_cut_off_is_found() -> None:
    assert [s.kind for s in find_secrets(PEM.format("BEGIN") + "\n" + some(60))] == ["private key"]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from([secret for _, secret in FOUND]) | st.text(), max_size=6))
def test_masking_twice_changes_nothing_more_and_places_are_in_order(pieces: list[str]) -> None:
    text = " \n".join(pieces)
    masked, found = mask(text)
    assert mask(masked) == (masked, [])
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(s.line == text.count("\n", 0, s.start) + 1 for s in found)


@pytest.mark.parametrize(
    "piece", ["password=", "token_", "a://b:", "eyJ", "-----BEGIN PRIVATE KEY-----", "bearer a"]
)
def test_text_made_to_be_slow_takes_no_longer_than_its_length(piece: str) -> None:
    def cost(size: int) -> float:
        text = piece * (size // len(piece))
        begun = time.process_time()
        find_secrets(text)
        return time.process_time() - begun

    cost(1000)
    assert cost(400_000) < 12 * cost(100_000) + 0.2
