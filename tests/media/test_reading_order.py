"""Text boxes sorted into reading order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proxy.media.reading_order import Box, lines


def line(text: str, left: float, top: float, width: float = 200, height: float = 10) -> Box:
    return Box(text, left, top, left + width, top + height)


def test_boxes_side_by_side_are_a_line():
    boxes = [line("Total", 0, 0, 30), line("12.50", 300, 2, 30), line("Date", 0, 20, 30), line("May", 300, 19, 30)]
    assert lines(boxes) == ["Total  12.50", "Date  May"]


def test_columns_of_prose_are_read_in_turn():
    left = [line(f"left column line {number}", 0, 30 + 12 * number) for number in range(8)]
    right = [line(f"right column line {number}", 220, 36 + 12 * number) for number in range(8)]
    title = line("A title over both of the columns", 0, 0, 420)
    assert lines([*right, *left, title]) == [box.text for box in [title, *left, *right]]


def test_three_columns_whose_lines_are_not_level():
    columns = [
        [line(f"column {name} line {number}", at * 220, shift + 12 * number) for number in range(9)]
        for at, (name, shift) in enumerate([("one", 0), ("two", 5), ("three", 9)])
    ]
    assert lines([box for column in columns for box in column]) == [box.text for column in columns for box in column]


def test_vertical_lines_are_read_from_the_right():
    boxes = [Box("二行目です", 0, 0, 20, 100), Box("一行目です", 40, 0, 60, 100)]
    assert lines(boxes) == ["一行目です", "二行目です"]


sides = st.floats(0, 500, allow_nan=False)


@given(st.lists(st.builds(line, st.text("ab", min_size=1, max_size=20), sides, sides, st.floats(1, 300)), max_size=30))
def test_each_box_is_read_once(boxes):
    read = " ".join(lines(boxes)).split()
    assert sorted(read) == sorted(" ".join(box.text for box in boxes).split())
