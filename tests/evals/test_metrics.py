from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proxy.evals.metrics import (
    Gold,
    Injected,
    common_prefix,
    fingerprints,
    injected_text,
    mean,
    oracle,
    percentile,
    random_control,
    words,
)

MESSAGE = "We planted three apple trees behind the old barn last Sunday"


def test_evidence_counts_when_most_trigrams_are_in():
    assert Injected(f"User: {MESSAGE.upper()}!").holds(MESSAGE)
    assert Injected("We planted three apple trees behind the old barn").holds(MESSAGE)
    assert not Injected("three apple trees behind the barn").holds(MESSAGE)


def test_short_message_must_stand_there_whole():
    assert Injected("She said: Oslo, of course").holds("Oslo, of")
    assert not Injected("of Oslo").holds("Oslo, of")
    assert not Injected("anything").holds("…")


def test_group_is_found_with_any_of_its_messages():
    gold = Gold(((MESSAGE, "Something else entirely was said here"), ("Nobody ever wrote this one down",)))
    assert gold.found([Injected("Something else entirely was said here")]) == 0.5


def test_answer_counts_by_stems_without_stop_words():
    text = Injected("He plants the trees in autumn")
    assert text.answers("planting of a tree")
    assert text.answers("planting a tree in summer") is False
    assert text.answers("the") is None
    assert text.answers(None) is None


def test_answer_without_spaces_counts_by_character_pairs():
    text = Injected("我昨天去了上海出差。")
    assert text.answers("上海")
    assert text.answers("上海出差")
    assert text.answers("北京") is False


def test_newer_value_is_placed_by_its_words():
    old, new = "My server has 16 GB of memory", "My server has 64 GB of memory"
    text = Injected(f"{new}. {old}.")
    newer, older = text.position(new, old), text.position(old, new)
    assert newer is not None
    assert older is not None
    assert newer < older


def test_foreign_text_is_what_only_others_said():
    own = fingerprints(words("i keep bees on the roof of my house in town"))
    others = fingerprints(words("my grandmother collected stamps from every country she could find")) | own
    assert Injected("I keep bees on the roof of my house").foreign_grams(own, others) == 0
    assert Injected("my grandmother collected stamps from every country she").foreign_grams(own, others) == 1
    guide = fingerprints(words("The user keeps bees on the roof of my house and sells the honey"))
    assert Injected("User: keeps bees on the roof of my\nUser: house").foreign_grams(own, guide) == 0


def test_block_around_the_clients_words_is_found():
    sent = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
    received = [
        {"role": "system", "content": "Be brief.\n<profile>"},
        {"role": "system", "content": "<extra>"},
        {"role": "user", "content": "Hello\n<block quoting Hello>"},
    ]
    assert injected_text(sent, received) == ["\n<profile>", "<extra>", "\n<block quoting Hello>"]
    assert injected_text(sent[1:], [{"role": "user", "content": "<block>Hello"}]) == ["<block>"]


def test_multimodal_parts_are_compared_by_text():
    sent = [{"role": "user", "content": [{"type": "text", "text": "What is this?"}]}]
    received = [{"role": "user", "content": [*sent[0]["content"], {"type": "text", "text": "<block>"}]}]
    assert [part.strip() for part in injected_text(sent, received)] == ["<block>"]
    assert injected_text(sent, sent) == []


@given(st.lists(st.text(alphabet="ab <>\n", max_size=12), min_size=1, max_size=5))
def test_nothing_is_injected_where_nothing_changed(texts):
    messages = [{"role": "user", "content": text} for text in texts]
    assert injected_text(messages, messages) == []


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_common_prefix_is_shared_and_cannot_grow(stem, left, right):
    left, right = stem + left, stem + right
    size = common_prefix(left, right)
    assert left[:size] == right[:size]
    assert size >= len(stem)
    assert left[size : size + 1] != right[size : size + 1] or size == len(left) == len(right)


def test_controls_keep_to_the_budget():
    pool = [f"Message number {number} tells of nothing in particular" for number in range(200)]
    lot = random_control(pool, 100, "seed")
    assert 50 < lot.tokens <= 100
    assert lot.text == random_control(pool, 100, "seed").text
    known = oracle(Gold(((pool[3],), (pool[7],))), 100)
    assert Gold(((pool[3],), (pool[7],))).found([known]) == 1.0


def test_oracle_cuts_what_is_longer_than_the_budget():
    long = " ".join(f"word{number}" for number in range(2000))
    assert 0 < oracle(Gold(((long,),)), 100).tokens <= 200


def test_means_and_percentiles_leave_out_the_unknown():
    assert mean([1.0, None, False]) == 0.5
    assert mean([None]) is None
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([], 0.5) is None
