"""Takes secrets out of a text before it is written anywhere: keys, tokens, passwords, private keys, card numbers, IBANs."""

from __future__ import annotations

import re
from typing import Any

REDACTED = "[redacted]"
_DEEPEST = 64

# Anchored on what providers print in front of their keys; every repeat is of one character class, so that time is linear.
_TOKENS = re.compile(
    r"(?<![A-Za-z0-9_])(?:"
    r"sk-[A-Za-z0-9_-]{16,256}"  # OpenAI, Anthropic, OpenRouter and others
    r"|(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,256}"
    r"|gh[pousr]_[A-Za-z0-9]{20,256}|github_pat_[A-Za-z0-9_]{20,256}|glpat-[A-Za-z0-9_-]{16,256}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,256}|xapp-[A-Za-z0-9-]{10,256}"
    r"|AIza[A-Za-z0-9_-]{30,100}|ya29\.[A-Za-z0-9_-]{20,512}|GOCSPX-[A-Za-z0-9_-]{20,100}"
    r"|(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])"
    r"|hf_[A-Za-z0-9]{20,100}|gsk_[A-Za-z0-9]{20,100}|r8_[A-Za-z0-9]{20,100}|pplx-[A-Za-z0-9]{20,100}|xai-[A-Za-z0-9]{20,256}"
    r"|npm_[A-Za-z0-9]{30,100}|pypi-[A-Za-z0-9_-]{40,512}|dop_v1_[a-f0-9]{40,100}|SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,128}"
    r"|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{20,64}|sq0(?:atp|csp)-[A-Za-z0-9_-]{20,64}|key-[a-f0-9]{32}(?![a-f0-9])"
    r"|eyJ(?<![A-Za-z0-9_-]-eyJ)[A-Za-z0-9_-]{8,2048}+\.[A-Za-z0-9_-]{8,4096}(?:\.[A-Za-z0-9_-]{4,2048})?"  # JWT; a second start in one run would cost its square
    r"|(?:tl|throughline)[-_][A-Za-z0-9]{24,128}"
    r"|\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"  # Telegram bots
    r")"
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,20000}(?:-----END [A-Z0-9 ]{0,40}-----)?"
)
_BEARER = re.compile(r"(?i)\b(bearer|basic|token)[ \t]+([A-Za-z0-9._~+/=-]{20,4096})")
_URL_PASSWORD = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,100}):([^\s/@]{1,200})@")
# The next three are searched in lower case and start with a letter, so that the search skips what cannot begin a match.
_NAMED = re.compile(  # api_key=…, "client_secret": "…"
    r"(?:key(?:(?<=api[_-]key)|(?<=apikey)|(?<=(?:secret|access)[_-]key)|(?<=(?:secret|access)key)|"
    r"(?<=private[_-]key)|(?<=privatekey))|"
    r"secret(?:(?<=_secret)|(?<=client-secret)|(?<=clientsecret))|"
    r"token(?:(?<=_token)|(?<=auth-token)|(?<=authtoken)|(?<=access-token)|(?<=accesstoken)|"
    r"(?<=refresh-token)|(?<=refreshtoken))|"
    r"passwd|password|passphrase|pwd(?<=_pwd))"
    r"[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?([^\s\"',;]{4,512})"
)
_SPOKEN = re.compile(  # "my password is …"
    r"(?:password|passphrase|passcode|pass word|pwd|pin(?: code| number|-?code|-?nummer)?|cvv2?|cvc|"
    r"passwort|kennwort|geheimzahl|"
    r"contraseña|clave(?= (?:es|de acceso es|del? \S{1,30} es) \S{0,40}\d)(?: de acceso)?|"
    r"пароль|пин-?код|кодовое слово|код доступа)"
    r"(?:[ \t](?:for|to|of|on|at|für|zum|zur|beim|vom|von|de|del|para|от|для|на|к)(?:[ \t][^\s:=,.;?!]{1,30}+){1,4}?)?"
    r"[ \t]{0,2}(?:[ \t](?:is|was|are|ist|lautet|war|heißt|es|era)[ \t]|[:=—–-]|[ \t](?:это)[ \t])[ \t]{0,3}(?:now[ \t]|jetzt[ \t]|ahora[ \t]|теперь[ \t])?"
    r"[\"'«“„`]?([^\s\"'»”“`]{3,200})"
)
_LEADS = (  # what a password is for, written in one word with it
    *("wifi", "wi-fi", "vpn", "wlan", "router", "netflix", "computer", "laptop", "phone"),
    *("login", "mail", "account", "bank", "master", "root", "admin"),
)
_SPOKEN_ZH = re.compile(
    r"(?:密码|口令|验证码|pin码?)(?:现在)?(?:是|为|：|:|=)[ \t]{0,3}[\"“「]?([a-z0-9!@#$%^&*()_+.?~-]{3,200})"
)
# What follows "my password is" without being one.
_NOT_SECRET = re.compile(
    r"(?i)(?:not|wrong|too|very|weak|strong|safe|secure|long|short|the|a|an|in|on|my|your|so|really|invalid|incorrect|expired|"
    r"required|stored|saved|reset|never|always|good|bad|broken|compromised|leaked|gone|lost|something|what|correct|missing|"
    r"nicht|falsch|zu|sehr|abgelaufen|weg|sicher|unsicher|schwach|richtig|no|muy|incorrecta|segura|débil|demasiado|"
    r"не|слишком|очень|неверный|забыт|потерян|\[redacted\]|hard|easy|used|asked|needed|being|hashed|encrypted|null|none|true|"
    r"false|undefined|os\.[\w.]*+|process\.\w*+|env\w*+|\$\{?\w*+|<\w*+|\{\w*+|str\b|string)[\"'.,;:!?()<>{}\[\]]*+"
)
_CARD = re.compile(r"\d(?<![\d.,-]\d)(?:[ -]?\d){12,18}(?![\d-])")
_IBAN = re.compile(r"[A-Z](?<![A-Z0-9][A-Z])[A-Z]\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Z0-9])")


def redact(text: str) -> str:
    """Return ``text`` with every secret replaced by ``[redacted]``; doing it twice changes nothing more."""
    if len(text) < 4:
        return text
    if "-----BEGIN" in text:
        text = _PRIVATE_KEY.sub(REDACTED, text)
    text = _TOKENS.sub(REDACTED, text)
    text = _BEARER.sub(_keep_word, text)
    if "://" in text:
        text = _URL_PASSWORD.sub(rf"\1:{REDACTED}@", text)
    text = _without_called(text, _NAMED)
    text = _without_called(text, _SPOKEN, alone=True)
    text = _without_called(text, _SPOKEN_ZH)
    text = _CARD.sub(_without_card, text)
    return _IBAN.sub(_without_iban, text)


def redact_values(value: Any, name: str = "", *, depth: int = 0) -> Any:
    """Return a JSON value with every text in it redacted; a name such as "password" tells what its text is.

    Raises:
        ValueError: If the value is nested too deeply to be stored.
    """
    if depth > _DEEPEST:
        raise ValueError(f"it is nested more than {_DEEPEST} levels deep")
    if isinstance(value, dict):
        return {key: redact_values(inner, key, depth=depth + 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [redact_values(inner, name, depth=depth + 1) for inner in value]
    if not isinstance(value, str):
        return value
    named = redact(f"{name}: {value}")
    return named.removeprefix(f"{name}: ") if named.startswith(f"{name}: ") else redact(value)


def _keep_word(match: re.Match[str]) -> str:
    secret = match[2]
    is_random = any(char.isdigit() for char in secret) and any(char.isalpha() for char in secret)
    return f"{match[1]} {REDACTED}" if is_random else match[0]


def _without_called(text: str, pattern: re.Pattern[str], *, alone: bool = False) -> str:
    """Redact the group of each match; ``alone`` asks for a keyword that is no mere ending ("spin")."""
    lowered, kept, done = _lower(text), list[str](), 0
    match = pattern.search(lowered)
    while match is not None:
        if alone and not _stands_alone(lowered, match.start()):
            match = pattern.search(lowered, match.start() + 1)
            continue
        start, end = match.span(1)
        secret = text[start:end]
        if not secret.startswith(REDACTED[:9]) and not _NOT_SECRET.fullmatch(secret):
            stop = start + (len(secret.rstrip(".,;:!?)")) or len(secret))
            kept += (text[done:start], REDACTED)
            done = stop
        match = pattern.search(lowered, end)
    return "".join((*kept, text[done:]))


def _lower(text: str) -> str:
    """Return ``text`` in lower case, every character at its place."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(char.lower()[0] for char in text)


def _stands_alone(text: str, start: int) -> bool:
    return not (start and text[start - 1].isalnum()) or text.endswith(_LEADS, 0, start)


def _without_card(match: re.Match[str]) -> str:
    digits = [int(char) for char in match[0] if char.isdigit()]
    return REDACTED if 13 <= len(digits) <= 19 and digits[0] in (2, 3, 4, 5, 6) and _luhn(digits) else match[0]


def _luhn(digits: list[int]) -> bool:
    """Check the last digit (ISO/IEC 7812-1, annex B)."""
    doubled = [digit if index % 2 == 0 else sum(divmod(digit * 2, 10)) for index, digit in enumerate(reversed(digits))]
    return len(set(digits)) > 1 and sum(doubled) % 10 == 0


def _without_iban(match: re.Match[str]) -> str:
    compact = match[0].replace(" ", "")
    rearranged = compact[4:] + compact[:4]
    number = "".join(str(int(char, 36)) for char in rearranged)
    return REDACTED if 15 <= len(compact) <= 34 and int(number) % 97 == 1 else match[0]
