"""Base of all sections of the settings."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from proxy.settings.explain import problem_of_url, without_password

_WEB_ADDRESSES = ("url", "hub_url", "base_url", "otlp_endpoint")
_WHOLE = ("hub_url", "otlp_endpoint")  # not sent together with a key, which excludes a user


class Section(BaseModel):
    """Some settings of one subject; what is unknown is refused, and defaults are checked like everything else."""

    model_config = ConfigDict(extra="forbid", validate_default=True, allow_inf_nan=False)

    @field_validator("*")
    @classmethod
    def _is_reachable(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse an address of a web server that is none."""
        name = info.field_name or ""
        is_address = name in _WEB_ADDRESSES or name.endswith("_base_url")
        if is_address and isinstance(value, str) and (problem := problem_of_url(value, takes_query=name in _WHOLE)):
            raise ValueError(f"{without_password(value)!r} {problem}")
        return value
