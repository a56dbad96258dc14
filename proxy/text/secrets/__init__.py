"""Takes secrets out of a text before it is written anywhere.

Open first: ``redaction``. A cue ("password", in many languages) and a word that looks like a secret are both needed,
but for what is known by its form; words and providers' prefixes are data: ``data.toml``.
"""

from proxy.text.secrets.redaction import REDACTED, holds_credential, redact, redact_answer, redact_name, redact_values

__all__ = ["REDACTED", "holds_credential", "redact", "redact_answer", "redact_name", "redact_values"]
