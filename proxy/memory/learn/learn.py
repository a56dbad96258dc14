"""Learn from one turn: parse its messages, decide about older memories. Pure; ``gather`` fetches its input."""

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
from proxy.text.speakers import denies, names_author, opens_with, speaks_of_self, things_of_author
from proxy.text.terms import Term, holds, holds_all, person_in, plain, shared, terms_in
from proxy.text.user_spans import role_in
from proxy.text.words import flat, words
from proxy.types import Memory, Said, Turn

MAX_CAME_ALONG = 300  # user messages of a client's history that are parsed for statements, the newest ones
MAX_CHARACTERS_ALONG = 64_000  # in all of these messages
MIN_EDIT_SHARE = 0.5  # of the words of an edited message that stay; a smaller share makes another message
MIN_PIECE_WORDS = 3  # of a clause that stays when another clause of its sentence ended something
MIN_LINK_TERMS = 2  # telling words that a change shares with its target


@dataclass(frozen=True, slots=True)
class Read:
    """A parsed user message: its sentences and endings, terms of things that hold again, and its statements' texts."""

    said: Said
    found: tuple[Sentence, ...]
    endings: tuple[Ending, ...]
    resumed: tuple[tuple[Term, ...], ...] = ()
    stated: tuple[str, ...] = ()

    @property
    def changing(self) -> list[str]:
        """Sentences with a cue of change or danger, about things and people in older statements."""
        return [one.text for one in self.found if any(has_cue(name, one.low) for name in ("now", "danger"))]


def read(turn: Turn) -> list[Read]:
    """Return the parsed user messages of a turn, in order.

    Of a history sent by the client only the newest messages are parsed: it has any length, and is indexed as episodes.
    Each message costs some milliseconds; call it outside the event loop.

    Raises:
        TookTooLong: If parsing takes longer than the limit.
    """
    made = []
    for said in Patience().each(_worth_reading(turn)):
        found = tuple(own_sentences(said.text))
        stated = tuple(statement.text for statement in statements(found))
        made.append(Read(said, found, (*endings(found), *doubts(found)), tuple(resumed(found)), stated))
    return made


def _worth_reading(turn: Turn) -> list[Said]:
    """Return the user's messages, without the older part of a long history sent along with the newest message."""
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
    """Return the changes that a turn makes; after they are applied, the same turn makes none.

    Raises:
        TookTooLong: If it takes longer than the limit.
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
    """Return whether a message belongs to a role-play that its session opened before."""
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
    """Link a correction that is only a value to the statement right before it, in its message or the previous one."""
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
    """Return whether a request in the same message covers a sentence: all before "that", or all on a person."""
    if request.is_last:
        return sentence.start < request.sentence.start
    is_other = request.everything and sentence != request.sentence
    return is_other and any(holds(sentence.text, term) for term in request.terms if term.is_name)


def _remaining(planner: Planner, one: Read, sentence: Sentence) -> list[Statement]:
    """Return the remaining statements of a sentence that ended something: its other clauses, and the new thing."""
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
    """Link a statement with a cue of change to the older one that it probably changes."""
    low = flat(fresh.text)
    if has_cue("meant", low):
        before = [row for row in planner.active if row.session == fresh.session and row.message != one.said.id]
        if before:
            planner.link(fresh, max(before, key=lambda row: (row.valid_from, row.start)))
        return
    if best := _changed(planner, one, fresh.text, low):
        planner.link(fresh, best)


def _changes(planner: Planner, one: Read, sentence: Sentence) -> bool:
    """Return whether a sentence not about its author changes an older statement about a thing of the author's."""
    is_plain = one.said.live and tells(sentence.text, sentence.low)
    return is_plain and _changed(planner, one, sentence.text, sentence.low) is not None


def _danger(planner: Planner, sentence: Sentence) -> str:
    """Return a sentence's first clause if it states a danger for a person whom an active memory names."""
    text = sentence.text[slice(*clauses(sentence.text)[0])]
    low, said = flat(text), terms_in(text)[:1]
    if not said or not tells(text, low) or not has_cue("danger", low):
        return ""
    names = [term for row in planner.active for term in terms_in(row.text) if term.is_name]
    return text if any(not term.forms.isdisjoint(said[0].forms) for term in names) else ""


def _changed(planner: Planner, one: Read, text: str, low: str) -> Memory | None:
    """Return the older statement that a text with a cue of change matches best, None if there is none."""
    older, least = [row for row in planner.active if row.message != one.said.id and not row.later], MIN_LINK_TERMS
    if not has_cue("now", low):
        said, least = terms_in(text, *clauses(text)[0]), 1  # "I don't have a dog" after "I have a dog"
        older = [row for row in older if said and holds_all(row.text, said) and denies(low) != denies(flat(row.text))]
    who = "" if names_author(low) else person_in(text)  # "My son is no longer allergic" is of him
    older = [row for row in older if not who or shared(who, row.text)]
    best = max(((shared(text, row.text), row.valid_from, row.id, row) for row in older), default=None)
    is_enough = best is not None and (best[0] >= least or things_of_author(low) & things_of_author(flat(best[3].text)))
    return best[3] if best is not None and is_enough else None


def _edited(planner: Planner, said: Said, past: Past) -> None:
    """Close the branch that an edited message replaces: a message of similar words at the same place."""
    if not said.live or all(row.message != said.id for row in past.own):
        return
    mine, place = {word.text for word in words(said.text)}, (planner.turn.scope.session, "user", said.seq)
    there = [row for row in past.rows if (row.session, row.by, row.seq) == place and row.message != said.id]
    there = [row for row in there if plain(row.text) != plain(said.text)]
    texts = [{word.text for word in words(row.text)} for row in there]
    is_near = [len(mine & theirs) >= MIN_EDIT_SHARE * max(len(mine), len(theirs)) for theirs in texts]
    # A client that sends single messages has all of them at the first place.
    if any(is_near) and (said.seq > 0 or all(is_near)):
        planner.retire_edited(said, [row for row, near in zip(there, is_near, strict=True) if near])


def _reply_before(said: Said, turn: Turn, past: Past) -> str:
    """Return the assistant's reply right before a message, "" if there is none."""
    inside = [one.text for one in turn.messages if one.role == "assistant" and one.seq == said.seq - 1]
    if inside:
        return inside[-1]
    place = (turn.scope.session, "assistant", said.seq - 1)
    return "\n".join(row.text for row in past.rows if (row.session, row.by, row.seq) == place)
