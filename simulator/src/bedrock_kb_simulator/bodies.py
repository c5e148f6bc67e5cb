"""Bodies of InvokeModel: JSON of a model's family, checked, and refused in AWS's words."""

from collections.abc import Iterable
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from bedrock_kb_simulator.errors import ServiceError
from bedrock_kb_simulator.rules import INVOKE_MALFORMED, NOT_SIMULATED


class Part(BaseModel):
    """Of a body: what it does not know is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Body = TypeVar("Body", bound=Part)


def read(kind: type[Body], body: bytes, *, unsimulated: Iterable[str]) -> Body:
    """`unsimulated` are keys that AWS takes and the simulator does not. Raises ServiceError."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        raise _refusal(error, set(unsimulated)) from None


def _refusal(error: ValidationError, unsimulated: set[str]) -> ServiceError:
    first = error.errors(include_url=False, include_context=True)[0]
    place, kind = list(first["loc"]), first["type"]
    last = str(place[-1]) if place else ""
    if kind == "extra_forbidden" and last in unsimulated:
        return NOT_SIMULATED.broken(what=f"{last} in a body of InvokeModel")
    if kind == "union_tag_invalid":
        return NOT_SIMULATED.broken(what=f"{first['ctx']['tag']} in a body of InvokeModel")
    if kind == "missing":
        return _malformed(place[:-1], f"required key [{last}] not found")
    if kind == "extra_forbidden":
        return _malformed(place[:-1], f"extraneous key [{last}] is not permitted")
    return _malformed(place, first["msg"])


def _malformed(place: list[Any], problem: str) -> ServiceError:
    return INVOKE_MALFORMED.broken(at="/".join(["#", *map(str, place)]), problem=problem)
