"""Secrets identified by form alone: providers' keys, URLs, command lines, PEM, JWT, cards; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from proxy.text.scan import holds, scan
from proxy.text.secrets.cues import lower
from proxy.text.secrets.data import phrases, rarest, section, words
from proxy.text.secrets.shapes import UUID, Strength, core, is_random, strength, turns

Span = tuple[int, int]

_MIN_PATH = 8
_MIN_KEY, _MIN_RANDOM, _MIN_TELEGRAM = 14, 32, 44  # characters of the shortest word that may be a secret of each form

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?>(?:[^-]|-(?!----)){0,20000})(?:-----END [A-Z0-9 ]{0,40}-----)?"
)
_PUTTY = re.compile(r"Private-Lines: \d{1,4}\r?\n(?>(?:[A-Za-z0-9+/=]{1,80}\r?\n?){1,200})")
_TELEGRAM = re.compile(r"(?<![\w])\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])")
_AUTHORIZATION = re.compile(
    r"(?i)\b(?:basic|bearer|digest|negotiate|apikey|token)[ \t]{1,4}([A-Za-z0-9._~+/-]{6,4096}+={0,2})"
)
_HEADER = re.compile(r"(?i)authorization[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?\Z")
_RUN = re.compile(r"\S++")
_LONG_RUN = re.compile(r"(?<!\S)\S{14,}+")
_USER_PART = re.compile(r"[^/?#\s\"'<>`]*+")
_PARAMETER = re.compile(r"[?&;#]([\w.%-]{1,60}+)=([^&#\s\"'<>;`)\]]++)")
_LONG_WORD = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{32,}+={0,2}")
_HASHES = re.compile(
    rf"(?<![^\W\d_])(?:{'|'.join(map(re.escape, sorted(words('labels', 'hashes'), key=len, reverse=True)))})(?![^\W\d_])"
)
_BEFORE_HASH, _HEX = 48, re.compile(r"(?:0x)?[0-9a-fA-F]++")
_IBAN = re.compile(r"(?<![A-Z0-9])[A-Z]{2}\d{2}(?:[ \u00a0]?[A-Z0-9]{4}){2,7}(?:[ \u00a0]?[A-Z0-9]{1,3})?(?![A-Z0-9])")
_NUMBERS = re.compile(r"(?<![\w])\d(?>(?:[^\w+()\[\]{}\"'<>]{0,3}_?\d)*)(?![\w])")
_MANY_DIGITS = re.compile(r"(?:\d\D{0,3}){13}")
_LIST_MARK = re.compile(r"[,;\n]")
_NUMBER_GROUP = re.compile(r"\d++")
_ISSUER = re.compile(r"4|5[0-8]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|3[0-9]|6")
_MNEMONIC = re.compile(r"(?<![^\W_])[a-z]{3,8}(?>(?:[ ,\n]{1,2}[a-z]{3,8})*)(?![^\W_])")
_MNEMONIC_SIZES, _BEFORE_MNEMONIC = (12, 24), 120
_SEEDS = phrases(section("phrases")["seed"])
_VALUE = re.compile(r"[ \t=]{0,4}+(?:\"([^\"\n]{1,300}+)\"|'([^'\n]{1,300}+)'|([^\s\"';|&<>]{1,300}+))")


def spans(text: str, *, is_name: bool = False) -> Iterator[Span]:
    """Yield the spans of secrets; they may overlap.

    Args:
        text: Any text.
        is_name: The text is an id or a name: length and randomness do not make it a secret.
    """
    yield from credentials(text, is_name=is_name)
    yield from _cards(text)
    yield from (match.span() for match in scan(_IBAN, text) if _is_iban(match[0]))


def credentials(text: str, *, is_name: bool = False) -> Iterator[Span]:
    """Yield the spans of secrets that grant access, as ``spans`` does: no cards and no bank accounts."""
    if "PRIVATE KEY" in text:
        yield from (match.span() for match in scan(_PRIVATE_KEY, text))
    if "Private-Lines" in text:
        yield from (match.span() for match in scan(_PUTTY, text))
    longest = max((word.end() - word.start() for word in scan(_LONG_RUN, text)), default=0)
    if longest >= _MIN_KEY:
        yield from _prefixed(text)
    if longest >= _MIN_TELEGRAM and ":" in text:
        yield from (match.span() for match in scan(_TELEGRAM, text))
    yield from _authorized(text)
    if "://" in text or "?" in text or "&" in text:
        yield from _in_urls(text)
    yield from _on_command_lines(text)
    yield from _mnemonics(text)
    if longest >= _MIN_RANDOM and not is_name:
        yield from _random(text)


_PREFIXES = [
    (rarest(prefix), prefix, re.compile(re.escape(prefix) + re.sub(r"(?<=\})(?!\+)", "+", pattern)))
    for pattern, listed in section("prefixes").items()
    for prefix in listed.split()
]
_JWT = "eyJ"
_NO_SECRETS = words("placeholders", "words")
_PATHS = section("urls")["paths"].split()
_PARAMETERS = words("urls", "parameters")


def _prefixed(text: str) -> Iterator[Span]:
    characters = set(text)
    for mark, prefix, form in _PREFIXES:
        if mark not in characters:
            continue
        at = text.find(prefix)
        while at >= 0:
            stop = at + len(prefix)
            found = form.match(text, at) if _begins(text, at, prefix) else None
            if found is not None:
                stop = found.end()
                if _is_no_word(found[0][len(prefix) :], prefix):
                    yield at, stop
            at = text.find(prefix, stop)


def _begins(text: str, at: int, prefix: str) -> bool:
    before = text[at - 1] if at else " "
    return not (before.isalnum() or before == "_" or (before == "-" and prefix == _JWT))  # one start in a run of "eyJ"


def _is_no_word(rest: str, prefix: str) -> bool:
    """Return whether the text after a prefix is more than words: not ``sk-learn-contributors-guide``."""
    return (
        any(map(str.isdigit, rest)) or (any(map(str.isupper, rest)) and any(map(str.islower, rest))) or len(prefix) > 8
    )


def _authorized(text: str) -> Iterator[Span]:
    for match in scan(_AUTHORIZATION, text):
        secret = match[1]
        is_header = _HEADER.search(text, max(0, match.start() - 24), match.start()) is not None
        is_mixed = any(map(str.isdigit, secret)) and any(map(str.isalpha, secret))
        if (is_header and not secret.startswith(("redacted", "YOUR", "your"))) or (
            len(secret) >= 16 and is_mixed and strength(secret) >= Strength.FAIR
        ):
            yield match.span(1)


def _in_urls(text: str) -> Iterator[Span]:
    for run in scan(_RUN, text):
        word, start = run[0], run.start()
        if "://" in word:
            yield from ((start + begin, start + end) for begin, end in _user_parts(word))
        if "?" in word or "&" in word or "#" in word:
            for match in _PARAMETER.finditer(word):
                if _is_parameter(match[1].lower(), match[2]):
                    yield start + match.start(2), start + match.end(2)
        if "/" in word:
            for path in _PATHS:
                begin, end = word.find(path) + len(path), core(word)[1]
                if path in word and end - begin >= _MIN_PATH:
                    yield start + begin, start + end


def _user_parts(word: str) -> Iterator[Span]:
    """Yield the passwords in ``scheme://name:password@host``, and names that are keys themselves."""
    at = word.find("://")
    while at >= 0:
        part = _USER_PART.match(word, at + 3)
        assert part is not None
        user, mark, _ = part[0].rpartition("@")
        name, colon, secret = user.partition(":")
        is_told = secret and secret.lower() not in _NO_SECRETS and not secret.startswith(("$", "{", "%{", "<"))
        if mark and colon and is_told:
            yield at + 4 + len(name), at + 3 + len(user)
        elif mark and len(name) >= _MIN_RANDOM // 2 and strength(name) >= Strength.FAIR:
            yield at + 3, at + 3 + len(name)
        at = word.find("://", part.end())


def _is_parameter(name: str, value: str) -> bool:
    last = re.split(r"[_.-]", name)[-1]
    if name not in _PARAMETERS and last not in _PARAMETERS:
        return False
    return (
        strength(value) >= Strength.WEAK
        or (value.isdigit() and 4 <= len(value) <= 10)
        or (("pass" in name or "pwd" in name or "secret" in name) and value.isalnum() and len(value) >= 4)
    )


_COMMANDS = section("commands")
_PAIRS, _FLAGS = frozenset(_COMMANDS["pairs"].split()), frozenset(_COMMANDS["flags"].split())
_PAIR_PROGRAMS = re.compile(rf"(?<![\w-])(?:{'|'.join(_COMMANDS['pair_programs'].split())})(?![\w-])")
_FLAG_PROGRAMS = re.compile(rf"(?<![\w-])(?:{'|'.join(_COMMANDS['flag_programs'].split())})(?![\w-])")
_SHORT = {name: flag for name, _, flag in (one.partition(":") for one in _COMMANDS["short"].split())}
_LONG_FLAG = re.compile(
    r"(?<![\w-])--(?:[a-z]{1,20}-)?(?:password|passwd|pass|passphrase|token|api-key|apikey|secret|secret-key|access-key|auth-token)(?=[ =])"
)
_FLAG = re.compile(r"(?<!\S)-{1,2}[A-Za-z][a-z-]{0,20}+")
_PAIR = re.compile(r"[^\s:\"']{0,100}+:(.{1,300}+)", re.DOTALL)
_GLUED_PAIR = re.compile(r"(?<!\S)-u[^\s:\"'-][^\s:\"']{0,100}+:([^\s\"']{1,300}+)")
_MYSQL = re.compile(r"(?<!\S)-p([^\s\"']{4,200}+|\"[^\"\n]{4,200}+\"|'[^'\n]{4,200}+')")


def _on_command_lines(text: str) -> Iterator[Span]:
    if " -" not in text and "\t-" not in text:
        return
    for line in re.finditer(r"[^\n]++", text):
        if " -" in line[0]:
            yield from _on_line(text, line.start(), line.end())


def _on_line(text: str, start: int, end: int) -> Iterator[Span]:
    pairs, flags = _PAIR_PROGRAMS.search(text, start, end), _FLAG_PROGRAMS.search(text, start, end)
    short = _SHORT.get(flags[0], "") if flags else ""
    for flag in _FLAG.finditer(text, start, end):
        is_pair = pairs is not None and flag[0] in _PAIRS
        is_plain = _LONG_FLAG.match(text, flag.start(), end) is not None or (
            flags is not None and flag[0] in (short, "-p", "-pass", "-w") and flag[0]
        )
        if not (is_pair or is_plain):
            continue
        value = _VALUE.match(text, flag.end(), end)
        if value is None or value.end() == flag.end():
            continue
        at = next(index for index in (1, 2, 3) if value[index] is not None)
        begin, stop = value.span(at)
        if is_pair and (pair := _PAIR.fullmatch(text, begin, stop)) and pair[1][0] not in "$<{":
            yield pair.span(1)
        elif is_plain and not is_pair and _is_argument(value[at]):
            yield begin, stop
    if pairs is not None:
        yield from (match.span(1) for match in _GLUED_PAIR.finditer(text, start, end) if match[1][0] not in "$<{")
    if flags is not None and flags[0].startswith(("mysql", "mariadb", "sshpass", "7z", "rar")):
        yield from (match.span(1) for match in _MYSQL.finditer(text, start, end))


def _is_argument(value: str) -> bool:
    return (len(value) >= 4 and value[0] not in "$<{-/" and strength(value) >= Strength.WEAK) or (
        value.isalpha() and value.islower() and len(value) >= 6 and value not in _NO_SECRETS
    )


def _random(text: str) -> Iterator[Span]:
    """Yield words of 32 and more mixed characters, unless a word such as "commit" or "sha256" explains them."""
    for found in scan(_LONG_WORD, text):
        if UUID.fullmatch(found[0].strip("-_=")):
            continue
        word = found[0]
        if not (is_random(word) or (turns(word) >= 4 and _HEX.fullmatch(word))):
            continue
        before = lower(text[max(0, found.start() - _BEFORE_HASH) : found.start()])
        if not _HASHES.search(before.rpartition("\n\n")[2]) and not _HASHES.match(lower(word[:12])):
            yield found.span()


def _mnemonics(text: str) -> Iterator[Span]:
    """Yield the twelve to twenty-four words that restore a wallet."""
    lowered = lower(text)
    places = sorted(at for seed in _SEEDS if (at := lowered.find(seed)) >= 0)
    for match in _MNEMONIC.finditer(text, places[0]) if places else ():
        many = match[0].count(" ") + match[0].count(",") + match[0].count("\n") + 1
        before = lowered[max(0, match.start() - _BEFORE_MNEMONIC) : match.start()]
        if _MNEMONIC_SIZES[0] <= many <= _MNEMONIC_SIZES[1] + 4 and any(seed in before for seed in _SEEDS):
            yield match.span()


def _cards(text: str) -> Iterator[Span]:
    for run in scan(_NUMBERS, text) if holds(_MANY_DIGITS, text) else ():
        groups = [group.span() for group in _NUMBER_GROUP.finditer(text, run.start(), run.end())]
        yield from _cards_in(text, groups)


def _cards_in(text: str, groups: list[Span]) -> Iterator[Span]:
    sizes = [end - start for start, end in groups]
    windows = _spelled(text, groups, sizes)
    for at, size in enumerate(sizes):
        if 13 <= size <= 19:
            windows.append((at, at + 1))
        elif size == 4:
            if sizes[at + 1 : at + 3] in ([4, 4], [6, 5], [6, 4]) or sizes[at + 1 : at + 2] == [6]:
                windows += [(at, at + many) for many in (5, 4, 3)]
        elif size in (8, 6):
            windows.append((at, at + 2))
    for first, last in windows:
        chosen = groups[first:last]
        digits = "".join(text[start:end] for start, end in chosen)
        if _is_of_list(text, groups, first, min(last, len(groups))):
            continue
        if len(chosen) == last - first and 13 <= len(digits) <= 19 and _ISSUER.match(digits) and _luhn(digits):
            yield chosen[0][0], chosen[-1][1]


def _spelled(text: str, groups: list[Span], sizes: list[int]) -> list[Span]:
    """Return the runs of numbers of one or two digits with equal separators, as 4 2 4 2 or 42-42."""
    windows: list[Span] = []
    first, parted = 0, ""
    for at in range(1, len(groups) + 1):
        mark = text[groups[at - 1][1] : groups[at][0]] if at < len(groups) and sizes[at] <= 2 else None
        if mark is not None and sizes[at - 1] <= 2 and (at - 1 == first or mark == parted):
            parted = mark
            continue
        if at - first > 4:
            windows.append((first, at))
        first, parted = (at - 1 if mark is not None and sizes[at - 1] <= 2 else at), mark or ""
    return windows


def _is_of_list(text: str, groups: list[Span], first: int, last: int) -> bool:
    """Return whether a list of numbers continues beside these: a column of figures is no card."""
    between = [text[left[1] : right[0]] for left, right in pairwise(groups[first:last])]
    if not any(_LIST_MARK.search(one) for one in between):
        return False
    edges = [
        text[left[1] : right[0]]
        for at in (first, last)
        if 0 < at < len(groups)
        for left, right in [groups[at - 1 : at + 1]]
    ]
    return any(one in between for one in edges)


def _luhn(digits: str) -> bool:
    """Return whether the check digit is right (ISO/IEC 7812-1, annex B)."""
    values = digits.encode().translate(_VALUES)
    return len(set(digits)) > 1 and (sum(values[-1::-2]) + sum(values[-2::-2].translate(_DOUBLED))) % 10 == 0


_VALUES = bytes((one - 48) % 256 for one in range(256))
_DOUBLED = bytes(sum(divmod(one * 2, 10)) if one < 10 else 0 for one in range(256))


def _is_iban(written: str) -> bool:
    compact = written.replace(" ", "").replace("\u00a0", "")
    number = "".join(str(int(char, 36)) for char in compact[4:] + compact[:4])
    return 15 <= len(compact) <= 34 and int(number) % 97 == 1
