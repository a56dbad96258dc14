"""Layout of the query block, in one place, so that measurements of a model's answers can vary it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Layout:
    """Order and form of the entries of a query block.

    Attributes:
        newest_last: Entries of a section are ordered oldest first.
        user_last: The user's statements are the last section, nearest to the end; else the first.
        dated: Entries begin with their date.
        grouped: Turns of one day are listed below one line with its date.
    """

    newest_last: bool = True
    user_last: bool = True
    dated: bool = True
    grouped: bool = True


# Measured with a 1.5B model, 24 questions on three life stories, the same turns each time: 17 right with the list after
# the question, the newest last; 14 with the list before the question; 13 with the newest first.
LAYOUT = Layout()
