"""What a function reads from its environment, checked together when it is first needed."""

import json
import os
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict

from stackroom.admission.schedule import Limits
from stackroom.model import PoolMember


def _from_json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


Pool = Annotated[tuple[PoolMember, ...], BeforeValidator(_from_json)]
JsonList = Annotated[tuple[str, ...], BeforeValidator(_from_json)]


class Settings(BaseModel):
    """
    Base of a function's configuration: a field `kb_docs_bucket` is the variable `KB_DOCS_BUCKET`.

    Raises pydantic's ValidationError naming the missing or wrong variables, never their values.
    """

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> Self:
        known = {
            name: environ[name.upper()] for name in cls.model_fields if name.upper() in environ
        }
        return cls.model_validate(known)


class AdmissionSettings(Settings):
    """Of every function that is granted knowledge bases, or gives them back."""

    kb_pool: Pool
    admission_jobs: int = 5
    admission_direct_calls: int = 10
    admission_seconds_between_starts: float = 10.0

    @property
    def limits(self) -> Limits:
        return Limits(
            jobs=self.admission_jobs,
            direct_calls=self.admission_direct_calls,
            seconds_between_starts=self.admission_seconds_between_starts,
        )
