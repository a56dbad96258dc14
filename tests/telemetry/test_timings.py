"""Spans by containment."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proxy.telemetry.timings import Span, nested


def test_a_step_within_another_one_is_its_child() -> None:
    spans = [Span("embed", 1, 2), Span("search", 2, 3), Span("recall", 0, 4), Span("remember", 5, 6)]
    recall, remember = nested(spans)
    assert (recall.name, [one.name for one in recall.children], remember.name) == (
        "recall",
        ["embed", "search"],
        "remember",
    )


def every(spans: tuple[Span, ...]) -> list[tuple[str, float, float]]:
    return [one for span in spans for one in ((span.name, span.start_s, span.end_s), *every(span.children))]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=12))
def test_spans_are_complete_and_inside_their_parents(times: list[tuple[int, int]]) -> None:
    spans = [Span(str(number), min(pair), max(pair)) for number, pair in enumerate(times)]
    tree = nested(spans)
    assert sorted(every(tree)) == sorted((span.name, span.start_s, span.end_s) for span in spans)

    def held(span: Span) -> bool:
        return all(
            span.start_s <= child.start_s and child.end_s <= span.end_s and held(child) for child in span.children
        )

    assert all(held(span) for span in tree)
