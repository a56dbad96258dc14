"""Likelihood that a word is a secret, by its shape alone; pure."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise

from proxy.text.secrets.data import section, words

MIN_LENGTH = 6
_MIN_GIBBERISH = 16
_MAX_WORD = 512  # a longer word is judged by its start

_WRAPPERS = "\"'`“”„‚‘’«»‹›「」『』()[]{}<>*,;:."
_ENDS = _WRAPPERS + "!?…。，！？、"
_SPECIAL = re.compile(r"[#$%^*~@€£§\\|](?!\Z)|[!?](?=\w)|(?<=\w)[!?]{2}(?=\w)")
_SOFT = re.compile(r"[&+=]")
_JOINT = re.compile(r"[-_./:'’·–—+&=,]+")
_DIGITS = re.compile(r"\d+")
_TURN = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+")
_KEY_GROUP = re.compile(r"[A-Z0-9]{4,8}")
_CASE_TURN = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


class Strength(IntEnum):
    """Strength of the evidence for a secret.

    Attributes:
        NONE: An ordinary word.
        DIGITS: A number.
        WEAK: Words and numbers joined by hyphens or points ("Zwiebel-91"), or a common name ("test1234").
        FAIR: Letters with digits or symbols in them ("hunter22").
        STRONG: Letters, digits and symbols, or an unpronounceable word.
    """

    NONE = 0
    DIGITS = 1
    WEAK = 2
    FAIR = 3
    STRONG = 4


def _alternatives(name: str) -> str:
    return "|".join(re.escape(one) for one in sorted(words("technical", name), key=len, reverse=True))


_UNITS = "|".join(re.escape(one) for one in sorted(words("technical", "units"), key=len, reverse=True))
_ENDINGS = frozenset(  # of files and hosts
    [
        "py",
        "js",
        "ts",
        "jsx",
        "tsx",
        "mjs",
        "json",
        "yaml",
        "yml",
        "toml",
        "txt",
        "md",
        "rst",
        "pdf",
        "png",
        "jpg",
        "jpeg",
        "gif",
        "svg",
        "webp",
        "csv",
        "tsv",
        "env",
        "sh",
        "bat",
        "exe",
        "dll",
        "so",
        "go",
        "rs",
        "java",
        "kt",
        "rb",
        "php",
        "htm",
        "html",
        "css",
        "scss",
        "xml",
        "zip",
        "gz",
        "tar",
        "tgz",
        "bz2",
        "doc",
        "docx",
        "xls",
        "xlsx",
        "ppt",
        "pptx",
        "odt",
        "pem",
        "key",
        "crt",
        "cer",
        "p12",
        "pfx",
        "db",
        "sqlite",
        "log",
        "lock",
        "ini",
        "cfg",
        "conf",
        "sql",
        "ipynb",
        "mp3",
        "mp4",
        "wav",
        "mov",
        "webm",
        "iso",
        "dmg",
        "apk",
        "deb",
        "rpm",
        "com",
        "org",
        "net",
        "io",
        "dev",
        "ai",
        "app",
        "co",
        "de",
        "fr",
        "es",
        "ru",
        "cn",
        "jp",
        "uk",
        "us",
        "eu",
        "ch",
        "at",
        "nl",
        "pl",
        "it",
        "br",
        "pt",
        "info",
        "edu",
        "gov",
        "example",
        "local",
        "internal",
        "test",
        "localhost",
    ]
)
_PLACE = re.compile(r"[\w.@~+/:#-]*+")
_ORDINARY = re.compile(
    r"\A(?:"  # tried at the start only: from every place of a long word the cost would be quadratic
    r"[^@\s:/]++@[\w-]++(?>(?:\.[\w-]++)+)(?<=[a-z])|[\w.+-]{2,64}@[a-z][\w-]++(?<=[a-z])"  # e-mail
    r"|v?\d++(?>(?:[.,:/x×–-]\d++)*)(?:[-+._]?(?:alpha|beta|rc|dev|post|a|b|p|snapshot|final|lts|stable|slim|alpine))?\d{0,4}[%°+]?"  # versions, times, sizes
    r"|[$€£¥₽~≈±#№+-]?\d[\d.,:–-]*+[%°€$£¥₽kKmM+]?(?:/[A-Za-z]++)?|[\w.-]++/[\w.-]++#\d++|[a-z]++(?>(?:-[a-z]++)+)#\d++|0x[0-9a-fA-F]{1,8}"
    r"|/[\w./{}:~-]*+(?:\?.*)?|[A-Za-z_$][\w$.]*+\[.*"
    rf"|[~<>≥≤$€£]?\d[\d.,]*+-?(?:{_UNITS})\.?"
    r"|\d++(?>(?:[-–][^\W\d_]++)+)"  # 16-character, 2-factor
    r"|\d{4}-\d\d-\d\d[tT ]?[\d:.,+-]*+[zZ]?|\d{8}[tT_-]\d{4,6}[zZ]?"  # moments
    r"|@[A-Za-z_][\w.-]*+|#\d++|#[A-Za-z_][\w-]*+"  # handles and hashtags
    r"|\$[A-Za-z_]\w*+|\$?\{[^}]*+\}?+|%\w++%|<[^>]*+>?+"  # placeholders
    r"|[x*•.X_-]++|(?:\.{0,2}|~)/[\w./@~+-]*+|[\w.@~-]++/[\w.@~-]++/[\w./@~-]*+|[A-Za-z]:\\[\w\\. -]*+"  # masks and paths
    r"|[A-Z][A-Z0-9]*+(?>(?:_[A-Z0-9]++)+)"  # ENV_NAMES
    r"|[A-Za-z_$][\w$]*+(?>(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*+)*)\([^)]*+(?:\)(?:[.;:,\[(].*)?)?"  # calls
    r"|(?:process|os|env|config|settings|self|this|req|request|ctx|secrets|vars|import)\.[\w.$\[\]]*+"
    r"|[A-Za-z]++(?>(?:\.[A-Za-z]++)+)\d?|[a-z][a-z0-9]*+(?>(?:_[a-z]++)+)\d?"  # names in code
    r"|(?:(?:new|old|confirm|repeat)_?)?(?:password|passwd|passwort|token|key|secret|pass|pwd|pw)_?\d"
    r"|(?:\d{1,3}\.){3}\d{1,3}(?::\d++|/\d++)?"
    r")\Z"
)
_TECHNICAL = re.compile(
    rf"(?:{_alternatives('names')})[-_./@]?v?\d{{1,5}}[a-z]{{0,2}}(?>(?:[-_.:@/][a-z0-9]{{1,10}})*)(?:\([\w-]*+\))?"
    rf"|(?:{_alternatives('whole')})(?>(?:[-_./][a-z0-9]{{1,12}})*)"
)
_CODE = re.compile(r"\A(?:[A-Z]{2,6}-?\d{2,6}|[a-z]++(?>(?:[A-Z][a-z]++)+)\d)\Z")  # of a ticket, a name in a program
_GENERIC = re.compile(rf"(?:{_alternatives('generic')})[-_.]?\d{{1,5}}[a-z]{{0,4}}|[a-z]{{1,2}}-?\d{{1,5}}")
_UNLIKELY = frozenset(row[0] + other for row in section("unlikely")["pairs"].split() for other in row[1:])


def core(word: str) -> tuple[int, int]:
    """Return the span of a word without the quotes, brackets and points around it."""
    start = len(word) - len(word.lstrip(_WRAPPERS))
    return start, max(start, len(word.rstrip(_ENDS)))


@lru_cache(maxsize=4096)
def strength(word: str) -> Strength:
    """Return the strength of the evidence that a bare word is a secret."""
    word = word[:_MAX_WORD]
    if word.isdigit():
        return Strength.DIGITS
    if len(word) < MIN_LENGTH or "redacted" in word:
        return Strength.NONE
    has_digits, special = _DIGITS.search(word) is not None, _SPECIAL.search(word) is not None
    if not any(map(str.isalpha, word)):
        return Strength.WEAK if has_digits and special and not _ORDINARY.match(word) else Strength.NONE
    if not has_digits and not special:
        return Strength.STRONG if _is_gibberish(word) else Strength.NONE
    return _mixed(word, special=special, has_digits=has_digits)


def _mixed(word: str, *, special: bool, has_digits: bool) -> Strength:
    if UUID.fullmatch(word):
        return Strength.WEAK
    if len(word) >= 20 and is_random(word):
        return Strength.STRONG
    if _ORDINARY.match(word) or _is_place(word):
        return Strength.NONE
    if special:
        return _with_symbols(word, has_digits=has_digits)
    lowered = word.lower()
    if _TECHNICAL.fullmatch(lowered):
        return Strength.NONE
    if _GENERIC.fullmatch(lowered) or _CODE.match(word):
        return Strength.WEAK
    return _joined(word) if _JOINT.search(word) else _solid(word)


def has_symbols(word: str) -> bool:
    """Return whether symbols are inside a word of letters and digits."""
    return _SPECIAL.search(word) is not None and _DIGITS.search(word) is not None


def turns(word: str) -> int:
    """Return the number of changes between letters and digits."""
    return len(_TURN.findall(word[:_MAX_WORD]))


def is_random(word: str) -> bool:
    """Return whether a long word of letters and digits is random: no list of words, numbers and ids."""
    pieces = [piece for piece in re.split(r"[-_/=.+]", word[:_MAX_WORD]) if piece]
    mixed = [piece for piece in pieces if turns(piece) >= 2 and len(piece) >= 6]
    return sum(map(len, mixed)) >= 24 or any(len(piece) >= 16 for piece in mixed)


def _is_place(word: str) -> bool:
    """Return whether a word is the name of a file or a host, by its ending."""
    name = word.partition("/")[0].partition(":")[0] if "://" not in word else ""
    ends = (name.rpartition(".")[2].lower(), word.rpartition(".")[2].lower())
    return "." in word and not _ENDINGS.isdisjoint(ends) and _PLACE.fullmatch(word) is not None


def _with_symbols(word: str, *, has_digits: bool) -> Strength:
    if has_digits:
        return Strength.STRONG if len(word) >= 8 or turns(word) else Strength.FAIR
    return Strength.FAIR if word[0].isalpha() or len(_SPECIAL.findall(word)) > 1 else Strength.WEAK


def _joined(word: str) -> Strength:
    pieces = [piece for piece in _JOINT.split(word) if piece]
    if len(pieces) >= 3 and all(map(_KEY_GROUP.fullmatch, pieces)) and len({len(piece) for piece in pieces}) == 1:
        return Strength.STRONG  # ABCD-1234-EFGH
    telling = [piece for piece in pieces if not piece.isdigit() and _DIGITS.search(piece)]
    if telling and all(_TECHNICAL.fullmatch(piece.lower().strip("$")) for piece in telling):
        return Strength.NONE
    best = max((strength(piece) for piece in pieces), default=Strength.NONE)
    if best >= Strength.STRONG:
        return best
    if any(turns(piece) >= 2 and len(piece) >= 4 and not _TECHNICAL.fullmatch(piece.lower()) for piece in pieces) or (
        _SOFT.search(word) and len(pieces) == 2 and best is Strength.FAIR
    ):
        return Strength.FAIR
    return Strength.FAIR if best is Strength.FAIR and len(word) >= 10 else Strength.WEAK


def _solid(word: str) -> Strength:
    length, changes = len(word), turns(word)
    if _HEX.fullmatch(word) and length >= 16:
        return Strength.STRONG
    if (length >= 16 and changes >= 2) or (length >= 10 and changes >= 4) or (length >= 8 and changes >= 3):
        return Strength.STRONG
    return Strength.FAIR


def _is_gibberish(word: str) -> bool:
    """Return whether a word of letters alone is unpronounceable: rare pairs, few vowels, case at random."""
    if len(word) < _MIN_GIBBERISH or not word.isascii() or not word.isalpha():
        return False
    lowered = word.lower()
    rare = sum(left + right in _UNLIKELY for left, right in pairwise(lowered))
    humps = len(_CASE_TURN.findall(word))
    return rare >= 3 or (humps * 4 > len(word) and rare >= 1) or humps * 3 > len(word)
