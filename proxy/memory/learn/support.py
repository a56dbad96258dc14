"""Whether a statement's sentence tells no more than what the user said; measured in words, in any script."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from proxy.memory.learn.model_fields import relation_forms
from proxy.text.lexical import content, tokens
from proxy.text.words import words
from proxy.types import Candidate, Memory

_MIN_SHARE = 0.6  # of a sentence's telling words
_MOST_RELATION_WORDS = 4  # a longer relation is a sentence of its own and proves nothing
_DAY = timedelta(days=1)

# How a sentence about somebody is put, whatever it tells.
_FRAME = frozenset(
    tokens(
        "user person speaker they use live work job profession have own like love prefer dislike speak learn play take "
        "name call want plan need know currently now no longer anymore often usually "
        "der Benutzer Nutzer Anwender er sie heißt mag wohnt lebt arbeitet benutzt nutzt verwendet spricht besitzt "
        "jetzt "
        "el usuario la usuaria se llama vive trabaja usa utiliza gusta prefiere habla tiene ahora "
        "l'utilisateur il elle s'appelle habite travaille utilise aime parle possède maintenant "
        "пользователь он она зовут живёт работает использует пользуется любит предпочитает говорит имеет теперь "
        "用户 使用 喜欢 住在 工作 名字 现在 ユーザー 使用者 사용자"
    )
)


def is_supported(candidate: Candidate, said: str, known: Sequence[Memory] = ()) -> bool:
    """Whether most of the telling words of a candidate's text are the user's own.

    Its value, the words of its relation, its date and the user's name do not count.

    Args:
        candidate: A grounded one.
        said: Everything of which its text may be made.
        known: Memories, for the user's name.
    """
    aside = _FRAME.union(tokens(candidate.object), _relation_words(candidate.relation), _date_words(candidate))
    aside = aside.union(*(tokens(memory.object) for memory in known if memory.relation == "name"))
    telling = [term for term in content(candidate.text) if term not in aside]
    if not telling:
        return True
    own = frozenset(tokens(said)) | frozenset(tokens(candidate.quote))
    return sum(term in own for term in telling) >= _MIN_SHARE * len(telling)


def _relation_words(relation: str) -> list[str]:
    if len(words(relation)) > _MOST_RELATION_WORDS:
        return []
    return tokens(" ".join((relation, *relation_forms(relation))))


def _date_words(candidate: Candidate) -> list[str]:
    if candidate.at is None:
        return []
    days = (candidate.at - _DAY, candidate.at, candidate.at + _DAY)  # of whatever zone
    return tokens(" ".join(f"{day:%Y-%m-%d %Y %m %d %B %b %A} {day.day} {day.month}" for day in days))
