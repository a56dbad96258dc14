"""Secrets are redacted before any write, ordinary words stay, and long input costs linear time."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proxy.text.secrets import REDACTED, redact, redact_answer, redact_name
from tests.text import said


def _token(prefix: str, length: int) -> str:
    return prefix + "a1B2c3D4e5" * (length // 10 + 1)


SECRETS = [
    _token("sk-", 40),
    _token("sk-proj-", 60),
    _token("sk-ant-api03-", 60),
    _token("ghp_", 30),
    _token("github_pat_", 60),
    _token("xoxb-", 30),
    "AKIA" + "ABCDEFGH12345678",
    _token("AIza", 35),
    _token("hf_", 30),
    _token("glpat-", 20),
    "eyJhbGciOiJIUzI1NiJ9." + _token("eyJ", 30) + "." + _token("x", 20),
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc123\nxyz\n-----END RSA PRIVATE KEY-----",
    "4111 1111 1111 1111",
    "5500-0000-0000-0004",
    "DE89 3704 0044 0532 0130 00",
]

SPOKEN = [
    ("My password is hunter22!x", "hunter22"),
    ("the wifi password for the cabin is Tannenbaum77, come over", "Tannenbaum77"),
    ("Mein Passwort lautet Zwiebel-91", "Zwiebel-91"),
    ("mi contraseña es Lechuga#45", "Lechuga#45"),
    ("Мой пароль: Карась2020", "Карась2020"),
    ("我的密码是abc12345", "abc12345"),
    ("my PIN is 4831", "4831"),
    ("API_KEY=abcdef123456 python run.py", "abcdef123456"),
    ('{"client_secret": "s3cr3tvalue"}', "s3cr3tvalue"),
    ("Authorization: Bearer abcdefgh1234567890XYZ", "abcdefgh1234567890XYZ"),
    ("postgres://app:letmein@db/prod", "letmein"),
]

HARMLESS = [
    "My password is too weak, what is a good one?",
    "I forgot my password, is the reset link expired?",
    "The pin on my jacket says 1984",
    "My extension is 5208 and my desk is 3F-204",
    "Order number 1234 5678 9012 3456 arrived",
    "skiing is fun, sk-8 boards too",
    "Call me on +49 30 1234567 at 10:30",
    "La clave es practicar todos los días",
    "password = os.environ['DB_PASSWORD']",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_known_forms_are_redacted_inside_a_sentence(secret: str) -> None:
    out = redact(f"here it is: {secret} ok?")
    assert secret not in out
    assert REDACTED in out
    assert out.startswith("here it is:")


@pytest.mark.parametrize(("text", "secret"), SPOKEN)
def test_what_is_called_a_password_is_redacted(text: str, secret: str) -> None:
    out = redact(text)
    assert secret not in out
    assert REDACTED in out


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_sentences_stay(text: str) -> None:
    assert redact(text) == text


def test_every_phrasing_of_the_set_is_redacted() -> None:
    assert len(said.SECRETS) >= 200
    left = [(text, secret) for text, secrets in said.SECRETS for secret in secrets if secret in redact(text)]
    assert left == []


def test_ordinary_messages_of_the_set_stay() -> None:
    assert len(said.ORDINARY) >= 500
    changed = [text for text in said.ORDINARY if redact(text) != text]
    assert len(changed) <= len(said.ORDINARY) // 100, changed


@pytest.mark.parametrize("secret", said.SHAPES)
@pytest.mark.parametrize("text", said.FRAMES)
def test_shapes_and_phrasings_combine(text: str, secret: str) -> None:
    assert secret not in redact(text.format(secret))


def test_ordinary_messages_side_by_side_stay() -> None:
    """The next message does not turn a message into a secret."""
    pairs = [f"{one}\n\n{other}" for one, other in pairwise(said.ORDINARY) if not one.endswith((":", "="))]
    changed = [pair for pair in pairs if redact(pair) != pair]
    assert len(changed) <= len(pairs) * 3 // 100, changed


def test_answer_to_a_password_question_is_redacted() -> None:
    asked = "Sure, I can note it.\nWhat is your wifi password?"
    assert redact_answer("Tannenbaum77", asked) == REDACTED
    assert redact_answer("It's Tannenbaum77, thanks", asked) == f"It's {REDACTED}, thanks"
    assert redact_answer("Tannenbaum77", "What is the room called?") == "Tannenbaum77"


@pytest.mark.parametrize("name", ["9f8e7d6c5b4a39281706f5e4d3c2b1a0", "chat-2024-05-01", "gpt-4o-mini-2024-07-18"])
def test_names_that_are_merely_random_stay(name: str) -> None:
    assert redact_name(name) == name


@pytest.mark.parametrize("name", [_token("sk-proj-", 60), "my password is hunter2!x", "redis://:pw12@host"])
def test_names_that_hold_a_secret_are_redacted(name: str) -> None:
    assert REDACTED in redact_name(name)


@given(st.sampled_from(said.ORDINARY), st.sampled_from(said.SECRETS), st.sampled_from(["\n\n", "\n"]))
@example(
    "max_tokens=4096, temperature=0.7", ("4 2 4 2 4 2 4 2 4 2 4 2 4 2 4 2", ["4 2 4 2 4 2 4 2 4 2 4 2 4 2 4 2"]), "\n\n"
)
@settings(max_examples=150, deadline=None)
def test_secrets_go_whatever_stands_before_them(before: str, case: tuple[str, list[str]], joint: str) -> None:
    text, secrets = case
    out = redact(f"{before}{joint}{text}")
    left = [secret for secret in secrets if secret in out and secret not in before and len(secret) >= 3]
    assert [secret for secret in left if not said.is_explained(before, secret)] == []


_BITS = [
    *"\n:=.,\"' -",
    " is ",
    "password",
    " my ",
    "PIN",
    "token",
    "hunter2!x",
    "Zwiebel-91",
    "4831",
    " user ",
    "密码",
    "=a1b2c3",
    "://",
    "@",
]


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(st.lists(st.sampled_from(_BITS), max_size=14).map("".join))
@settings(max_examples=400, deadline=None)
def test_redacting_twice_is_redacting_once_near_cues(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "4",
        "4 ",
        "sk-",
        "eyJ",
        "-----BEGIN PRIVATE KEY-----",
        "password ",
        "password is ",
        "=",
        "://a:",
        "DE89 ",
        "пароль ",
        "api_key",
    ],
)
def test_long_input_costs_linear_time(unit: str) -> None:
    def cost_s(length: int) -> float:
        text = unit * (length // len(unit))
        return min(_timed(text) for _ in range(3))

    small, large = cost_s(20_000), cost_s(160_000)
    assert large < max(small * 8 * 5, 0.5)


@pytest.mark.parametrize(
    "unit",
    [
        "_",
        "-",
        "abc_",
        "my password for ",
        "-eyJ",
        "key-",
        "api_key",
        "spin for ",
        "PIN ",
        "x_token=os" + "." * 500 + "# ",
    ],
)
def test_no_input_is_slow(unit: str) -> None:
    assert _timed((unit * (200_000 // len(unit) + 1))[:200_000]) < 10


@given(
    st.lists(
        st.sampled_from([*"_-. \t:=aA4\"'", "my ", "password", "PIN", "token", "api_key", "for", " is ", "eyJ"]),
        min_size=1,
        max_size=6,
    )
)
@settings(max_examples=25, deadline=None)
def test_no_repetition_is_slow(parts: list[str]) -> None:
    unit = "".join(parts)
    assert _timed(unit * (50_000 // len(unit))) < 10


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("my_client_secret_key=abcd1234", "abcd1234"),
        ("Das WLANPasswort ist Zwiebel91", "Zwiebel91"),
        ("the pin for spin for the phone is 4711", "4711"),
        ("MY WI-FI PASSWORD: Tannenbaum77", "Tannenbaum77"),
        ("İİİ password: Tannenbaum77", "Tannenbaum77"),
    ],
)
def test_the_keyword_may_stand_anywhere(text: str, secret: str) -> None:
    assert secret not in redact(text)


def _timed(text: str) -> float:
    start = time.process_time()
    redact(text)
    return time.process_time() - start
