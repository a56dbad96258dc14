"""Learn from one turn: read its messages, decide about older ones. Pure; ``gather`` fetches what it needs before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product

from proxy.memory.learn.decide import Planner
from proxy.memory.learn.doubts import doubts
from proxy.memory.learn.endings import Ending, endings, resumed
from proxy.memory.learn.past import Past
from proxy.memory.learn.statements import (
    MAX_CHARACTERS,
    MAX_CONTEXT,
    Sentence,
    Statement,
    own_sentences,
    statements,
    tells,
)
from proxy.memory.plan.changes import Change
from proxy.process.threads import Patience
from proxy.text.languages import has_cue
from proxy.text.segment import clauses, is_question, sentences
from proxy.text.slips import corrects
from proxy.text.speakers import denies, opens_with, speaks_of_self, things_of_author
from proxy.text.terms import Term, holds, holds_all, plain, shared, terms_in
from proxy.text.user_spans import role_in
from proxy.text.words import flat, words
from proxy.types import Memory, Said, Turn

MAX_CAME_ALONG = 300  # user messages of one history that are read for statements, the newest ones
MAX_CHARACTERS_ALONG = 64_000  # of these messages together
MIN_EDIT_SHARE = 0.5  # of the words of an edited message that stay; less is another message
MIN_PIECE_WORDS = 3  # of a clause that stays when another of its sentence ended something
MIN_LINK_TERMS = 2  # telling words that a change shares with what it changes


@dataclass(frozen=True, slots=True)
class Read:
    """A user message as read: its sentences and endings, what it says holds again, and its statements by themselves."""

    said: Said
    found: tuple[Sentence, ...]
    endings: tuple[Ending, ...]
    resumed: tuple[tuple[Term, ...], ...] = ()
    stated: tuple[str, ...] = ()

    @property
    def changing(self) -> list[str]:
        """Sentences of things and people that were told of before, if of any."""
        return [one.text for one in self.found if any(has_cue(name, one.low) for name in ("now", "danger"))]


def read(turn: Turn) -> list[Read]:
    """Return what the user wrote in a turn, message by message.

    Of a history that came along only its newest messages are read: it may be of any length, and is found as episodes.
    Each of them costs some milliseconds; run this beside the event loop.

    Raises:
        TookTooLong: If there is more to read than may be.
    """
    made = []
    for said in Patience().each(_worth_reading(turn)):
        found = tuple(own_sentences(said.text))
        stated = tuple(statement.text for statement in statements(found))
        made.append(Read(said, found, (*endings(found), *doubts(found)), tuple(resumed(found)), stated))
    return made


def _worth_reading(turn: Turn) -> list[Said]:
    """Return the user's messages, without the older part of a long history that came along with the last one."""
    chosen: list[Said] = []
    characters = 0
    for said in reversed([said for said in turn.messages if said.role == "user"]):
        size = min(len(said.text), MAX_CHARACTERS)
        if not said.live and (len(chosen) >= MAX_CAME_ALONG or characters + size > MAX_CHARACTERS_ALONG):
            break
        chosen.append(said)
        characters += 0 if said.live else size
    return chosen[::-1]


def learn(turn: Turn, readings: Sequence[Read], past: Past, now: datetime) -> list[Change]:
    """Return what a turn changes; applying the changes and asking again gives nothing.

    Raises:
        TookTooLong: If it takes longer than it may.
    """
    planner = Planner(turn, past, now)
    patience = Patience()
    for one in readings:
        _edited(planner, one.said, past)
        if not _is_in_role(one.said, turn, past):
            _learn_message(planner, one, _reply_before(one.said, turn, past), patience)
    planner.withhold_replays([row for row in past.own if row.by == "assistant" or not row.live])
    return planner.changes()


def _is_in_role(said: Said, turn: Turn, past: Past) -> bool:
    """Return whether a message is spoken in a role that its conversation opened before."""
    texts = [row.text for row in past.rows if row.by == "user" and row.session == turn.scope.session]
    texts += [one.text for one in turn.messages if one.role == "user" and one.seq <= said.seq]
    return next((found for text in reversed(texts) if (found := role_in(text)) is not None), False)


def _learn_message(planner: Planner, one: Read, reply: str, patience: Patience) -> None:
    for terms in patience.each(one.resumed if one.said.live else ()):
        planner.resume(terms)
    linked = [(ending, planner.end(ending, one.said, one.stated)) for ending in patience.each(one.endings)]
    hiding = {ending.sentence.start for ending in one.endings if planner.applied.get(ending)}
    gone = [ending for ending in one.endings if ending.kind == "forget"]
    found = [sentence for sentence in one.found if not any(_is_taken_back(sentence, ending) for ending in gone)]
    told = [statement for statement in statements(found, reply=reply) if statement.sentence.start not in hiding]
    starts = {statement.sentence.start for statement in told}
    named = [ending.sentence for ending, older in linked if older]
    for sentence in found:
        if sentence.start in hiding:
            told += _remaining(planner, one, sentence)
        elif sentence.start not in starts and (sentence in named or _changes(planner, one, sentence)):
            told.append(Statement(sentence.text, sentence))
        elif sentence.start not in starts and (danger := _danger(planner, sentence)):
            told.append(Statement(danger, sentence, is_profile=True))
    kept = [added for statement in patience.each(told) if (added := planner.state(statement, one.said)) is not None]
    for memory in patience.each(kept):
        _link(planner, memory, one)
    _correct(planner, one, kept, reply)
    for ending, older in linked:
        fresh = [memory for memory in kept if plain(memory.quote) == plain(ending.sentence.text)][:1]
        for new, old in product(fresh, older):
            planner.link(new, old)


def _correct(planner: Planner, one: Read, kept: Sequence[Memory], reply: str) -> None:
    """Show a correction that is only a value with the statement right before it, in its message or the one before."""
    here = planner.turn.scope.session
    said = next((row.text for row in reversed(planner.past.rows) if (row.by, row.session) == ("user", here)), "")
    before = next((said[start:end] for start, end in sentences(said)[-1:]), "")
    is_asked = any(is_question(reply[a:b], flat(reply[a:b])) for a, b in sentences(reply))
    rows = [row for row in planner.active if row.session == here]
    for sentence in one.found:
        older = next((row for row in reversed(rows) if plain(row.quote) == plain(before)), None)
        if older is not None and corrects(sentence.text, before, is_asked=is_asked):
            told = Statement(sentence.text, sentence, context=before[:MAX_CONTEXT], by="user")
            if (fresh := planner.state(told, one.said)) is not None:
                planner.link(fresh, older)
        before, is_asked, rows = sentence.text, False, list(kept)


def _is_taken_back(sentence: Sentence, request: Ending) -> bool:
    """Return whether a sentence goes with a request to forget in its message: all before "that", or all on a person."""
    if request.is_last:
        return sentence.start < request.sentence.start
    is_other = request.everything and sentence != request.sentence
    return is_other and any(holds(sentence.text, term) for term in request.terms if term.is_name)


def _remaining(planner: Planner, one: Read, sentence: Sentence) -> list[Statement]:
    """Return what is left of a sentence that ended something: its other clauses, and what came instead."""
    here = [ending for ending in planner.applied if ending.sentence == sentence]
    gone = [ending.clause for ending in here if planner.applied[ending]]
    asked = [term for ending in one.endings if ending.kind == "forget" for term in ending.terms[:1]]
    texts = [ending.rest for ending in here if ending.rest]
    for start, end in clauses(sentence.text):
        piece, low = sentence.text[start:end], sentence.low[start:end]
        is_gone = any(piece in clause for clause in gone) or any(holds(piece, term) for term in asked)
        is_hanging = opens_with(low, "preposition") or (opens_with(low, "but") and not speaks_of_self(low))
        if not (is_gone or is_hanging) and len(words(piece)) >= MIN_PIECE_WORDS and tells(piece, low):
            texts.append(piece)
    told = next((ending.clause for ending in here if ending.kind != "forget"), "")
    contexts = [told if opens_with(flat(text), "third") else "" for text in texts]
    return [
        Statement(text.strip(), sentence, context=context, by="user" if context else "", is_apart=True)
        for text, context in zip(texts, contexts, strict=True)
    ]


def _link(planner: Planner, fresh: Memory, one: Read) -> None:
    """Link a statement to the older one that it probably changes, where it has a cue of change."""
    low = flat(fresh.text)
    if has_cue("meant", low):
        before = [row for row in planner.active if row.session == fresh.session and row.message != one.said.id]
        if before:
            planner.link(fresh, max(before, key=lambda row: (row.valid_from, row.start)))
        return
    if best := _changed(planner, one, fresh.text, low):
        planner.link(fresh, best)


def _changes(planner: Planner, one: Read, sentence: Sentence) -> bool:
    """Return whether a sentence that does not speak of its author changes what they told of a thing of theirs."""
    is_plain = one.said.live and tells(sentence.text, sentence.low)
    return is_plain and _changed(planner, one, sentence.text, sentence.low) is not None


def _danger(planner: Planner, sentence: Sentence) -> str:
    """Return a sentence's first clause where it tells what is dangerous to forget of a person told of before, by name."""
    text = sentence.text[slice(*clauses(sentence.text)[0])]
    low, said = flat(text), terms_in(text)[:1]
    if not said or not tells(text, low) or not has_cue("danger", low):
        return ""
    names = [term for row in planner.active for term in terms_in(row.text) if term.is_name]
    return text if any(not term.forms.isdisjoint(said[0].forms) for term in names) else ""


def _changed(planner: Planner, one: Read, text: str, low: str) -> Memory | None:
    """Return the older statement that a text with a cue of change is most about, None where there is none."""
    older, least = [row for row in planner.active if row.message != one.said.id and not row.later], MIN_LINK_TERMS
    if not has_cue("now", low):
        said, least = terms_in(text, *clauses(text)[0]), 1  # "I don't have a dog" after "I have a dog"
        older = [row for row in older if said and holds_all(row.text, said) and denies(low) != denies(flat(row.text))]
    best = max(((shared(text, row.text), row.valid_from, row.id, row) for row in older), default=None)
    is_enough = best is not None and (
        best[0] >= least or not things_of_author(low).isdisjoint(things_of_author(flat(best[3].text)))
    )
    return best[3] if best is not None and is_enough else None


def _edited(planner: Planner, said: Said, past: Past) -> None:
    """Retire the branch that an edited message replaces: another message of much the same words at its place."""
    if not said.live or all(row.message != said.id for row in past.own):
        return
    mine, place = {word.text for word in words(said.text)}, (planner.turn.scope.session, "user", said.seq)
    edited = []
    for row in past.rows:
        if (row.session, row.by, row.seq) != place or row.message == said.id:
            continue
        theirs = {word.text for word in words(row.text)}
        if plain(row.text) != plain(said.text) and len(mine & theirs) >= MIN_EDIT_SHARE * max(len(mine), len(theirs)):
            edited.append(row)
    if edited:
        planner.retire_edited(said, edited)


def _reply_before(said: Said, turn: Turn, past: Past) -> str:
    """Return what the assistant said just before a message, "" where it opens the conversation."""
    inside = [one.text for one in turn.messages if one.role == "assistant" and one.seq == said.seq - 1]
    if inside:
        return inside[-1]
    place = (turn.scope.session, "assistant", said.seq - 1)
    return "\n".join(row.text for row in past.rows if (row.session, row.by, row.seq) == place)
