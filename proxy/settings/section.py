"""What all sections have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Some settings of one subject; what is unknown is refused, and defaults are checked like everything else."""

    model_config = ConfigDict(extra="forbid", validate_default=True)
