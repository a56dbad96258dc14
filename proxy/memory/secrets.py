"""Takes secrets out of a text before it is written anywhere: keys, tokens, passwords, private keys, card numbers, IBANs."""

from __future__ import annotations

import re

REDACTED = "[redacted]"

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
    r"|eyJ[A-Za-z0-9_-]{8,2048}\.[A-Za-z0-9_-]{8,4096}(?:\.[A-Za-z0-9_-]{4,2048})?"  # JWT
    r"|(?:tl|throughline)[-_][A-Za-z0-9]{24,128}"
    r"|\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"  # Telegram bots
    r")"
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,20000}(?:-----END [A-Z0-9 ]{0,40}-----)?"
)
_BEARER = re.compile(r"(?i)\b(bearer|basic|token)[ \t]+([A-Za-z0-9._~+/=-]{20,4096})")
_URL_PASSWORD = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,100}):([^\s/@]{1,200})@")
_NAMED = re.compile(  # api_key=…, "client_secret": "…"
    r"(?i)(?<![A-Za-z0-9])([A-Za-z0-9_-]{0,40}(?:api[_-]?key|secret[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret|"
    r"auth[_-]?token|access[_-]?token|refresh[_-]?token|passwd|password|passphrase|_secret|_token|_pwd)[\"']?[ \t]{0,3}[:=][ \t]{0,3})"
    r"([\"']?)([^\s\"',;]{4,512})"
)
_CALLED = (
    r"(?:(?:wi-?fi|login|mail|e-?mail|account|bank|master|root|admin|vpn|router|netflix|computer|laptop|phone|WLAN)[ -]?)?"
    r"(?:password|passphrase|passcode|pass ?word|pwd|pin(?: code| number)?|cvv2?|cvc|"
    r"passwort|kennwort|passphrase|pin(?:-?code|-?nummer)?|geheimzahl|"
    r"contraseña|clave(?= (?:es|de acceso es|del? \S{1,30} es) \S{0,40}\d)(?: de acceso)?|"
    r"пароль|пин-?код|кодовое слово|код доступа)"
)
_SPOKEN = re.compile(  # "my password is …"
    r"(?i)(?<![^\W_])("
    + _CALLED
    + r"(?:[ \t](?:for|to|of|on|at|für|zum|zur|beim|vom|von|de|del|para|от|для|на|к)(?:[ \t][^\s:=,.;?!]{1,30}){1,4}?)?"
    r"[ \t]{0,2}(?:[ \t](?:is|was|are|ist|lautet|war|heißt|es|era)[ \t]|[:=—–-]|[ \t](?:это)[ \t])[ \t]{0,3}(?:now[ \t]|jetzt[ \t]|ahora[ \t]|теперь[ \t])?)"
    r"([\"'«“„`]?)([^\s\"'»”“`]{3,200})"
)
_SPOKEN_ZH = re.compile(
    r"((?:密码|口令|验证码|支付密码|PIN码?)(?:现在)?(?:是|为|：|:|=)[ \t]{0,3})([\"“「]?)([A-Za-z0-9!@#$%^&*()_+.?~-]{3,200})",
    re.IGNORECASE,
)
# What follows "my password is" without being one.
_NOT_SECRET = re.compile(
    r"(?i)(?:not|wrong|too|very|weak|strong|safe|secure|long|short|the|a|an|in|on|my|your|so|really|invalid|incorrect|expired|"
    r"required|stored|saved|reset|never|always|good|bad|broken|compromised|leaked|gone|lost|something|what|correct|missing|"
    r"nicht|falsch|zu|sehr|abgelaufen|weg|sicher|unsicher|schwach|richtig|no|muy|incorrecta|segura|débil|demasiado|"
    r"не|слишком|очень|неверный|забыт|потерян|\[redacted\]|hard|easy|used|asked|needed|being|hashed|encrypted|null|none|true|"
    r"false|undefined|os\.[\w.]*|process\.\w*|env\w*|\$\{?\w*|<\w*|\{\w*|str\b|string)[\"'.,;:!?()<>{}\[\]]*"
)
_CARD = re.compile(r"(?<![\d.,-])\d(?:[ -]?\d){12,18}(?![\d-])")
_IBAN = re.compile(r"(?<![A-Z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Z0-9])")


def redact(text: str) -> str:
    """Return ``text`` with every secret replaced by ``[redacted]``; doing it twice changes nothing more."""
    if len(text) < 4:
        return text
    text = _PRIVATE_KEY.sub(REDACTED, text)
    text = _TOKENS.sub(REDACTED, text)
    text = _BEARER.sub(_keep_word, text)
    text = _URL_PASSWORD.sub(rf"\1:{REDACTED}@", text)
    for pattern in (_NAMED, _SPOKEN, _SPOKEN_ZH):
        text = pattern.sub(_keep_head, text)
    text = _CARD.sub(_without_card, text)
    return _IBAN.sub(_without_iban, text)


def _keep_word(match: re.Match[str]) -> str:
    secret = match[2]
    is_random = any(char.isdigit() for char in secret) and any(char.isalpha() for char in secret)
    return f"{match[1]} {REDACTED}" if is_random else match[0]


def _keep_head(match: re.Match[str]) -> str:
    secret = match[3]
    if secret.startswith(REDACTED[:9]) or _NOT_SECRET.fullmatch(secret):
        return match[0]
    stop = len(secret.rstrip(".,;:!?)")) or len(secret)
    return f"{match[1]}{match[2]}{REDACTED}{secret[stop:]}"


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
