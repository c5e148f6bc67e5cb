"""The entry point: every request of every simulated service passes `Dispatcher.call`."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.aws_clock import Clock
from bedrock_kb_simulator.faults import AFTER_THE_EFFECT, Fault, Faults, Kind, answer
from bedrock_kb_simulator.request_rates import Quotas
from bedrock_kb_simulator.service_errors import ConnectionDropped, ServiceError

# Validation of requests by the botocore service model, which states most of AWS's limits itself.


def validate(shape: Any, parameters: Any, service: str = "") -> None:
    """Raise the service's error for the first constraint that the parameters break."""
    for at, must in _violations(shape, parameters, ""):
        if service != "textract":
            raise rules.MODEL_CONSTRAINT.broken(at=at or "/", must=must)
        if at == "Document.Bytes" and "less than" in must:
            raise rules.TEXTRACT_TOO_LARGE.broken()
        raise rules.TEXTRACT_PARAMETER.broken()


def _violations(shape: Any, value: Any, at: str) -> Iterator[tuple[str, str]]:
    match shape.type_name:
        case "structure":
            yield from _in_structure(shape, value, at)
        case "list":
            yield from _in_list(shape, value, at)
        case "map":
            for key, item in value.items():
                yield from _violations(shape.key, key, f"{at}.key")
                yield from _violations(shape.value, item, f"{at}.{key}")
        case "blob":
            yield from _in_range(shape, len(value), at, "length")
        case "string":
            yield from _in_string(shape, value, at)
        case "integer" | "long" | "float" | "double":
            yield from _in_range(shape, value, at, "value")
        case _:
            pass  # booleans, timestamps and documents have no constraints here


def _in_list(shape: Any, value: Any, at: str) -> Iterator[tuple[str, str]]:
    if not isinstance(value, list):
        yield at, "Member must be a list"
        return
    yield from _in_range(shape, len(value), at, "length")
    for number, item in enumerate(value, start=1):
        yield from _violations(shape.member, item, f"{at}.{number}.member")


def _in_structure(shape: Any, value: Any, at: str) -> Iterator[tuple[str, str]]:
    if getattr(shape, "is_document_type", False):
        return
    if not isinstance(value, dict):
        yield at, "Member must be a structure"
        return
    for name in shape.required_members:
        if value.get(name) is None:
            yield f"{at}.{name}".lstrip("."), "Member must not be null"
    for name, member in shape.members.items():
        if value.get(name) is not None:
            yield from _violations(member, value[name], f"{at}.{name}".lstrip("."))


def _in_string(shape: Any, value: Any, at: str) -> Iterator[tuple[str, str]]:
    if not isinstance(value, str):
        yield at, "Member must be a string"
        return
    yield from _in_range(shape, len(value), at, "length")
    if shape.metadata.get("enum") and value not in shape.metadata["enum"]:
        yield at, f"Member must satisfy enum value set: [{', '.join(shape.metadata['enum'])}]"
    pattern = _compile_pattern(shape.metadata.get("pattern", ""))
    if pattern and not pattern.fullmatch(value):
        yield at, f"Member must satisfy regular expression pattern: {shape.metadata['pattern']}"


def _in_range(shape: Any, size: float, at: str, what: str) -> Iterator[tuple[str, str]]:
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if not isinstance(size, int | float):
        yield at, "Member must be a number"
    elif least is not None and size < least:
        yield at, f"Member must have {what} greater than or equal to {least}"
    elif most is not None and size > most:
        yield at, f"Member must have {what} less than or equal to {most}"


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str] | None:
    if not pattern:
        return None
    # In the pattern of bedrock-agent's taggable ARNs, `\d` lost its backslash.
    pattern = pattern.replace(":/d{12}:", r":\d{12}:")
    try:
        return re.compile(pattern, re.DOTALL)
    except re.error:
        return None  # a few patterns use Java's syntax; length limits still apply there


Parameters = dict[str, Any]
Handler = Callable[[Parameters], Parameters]


class Dispatcher:
    """
    Checks the rate, then the model's constraints, then calls the operation, in AWS's order.

    Faults apply only to calls that would have reached the operation.
    """

    def __init__(
        self, quotas: Quotas, handlers: Mapping[str, Handler], *, clock: Clock, faults: Faults
    ) -> None:
        self._quotas = quotas
        self._handlers = handlers
        self._clock = clock
        self._faults = faults

    def call(self, operation: Any, parameters: Parameters) -> Parameters:
        """
        Return the response of an operation of the service model.

        Raises ServiceError, or ConnectionDropped.
        """
        service = operation.service_model.service_name
        handler = self._handlers.get(f"{service}.{operation.name}")
        if handler is None:
            raise rules.NOT_SIMULATED.broken(what=f"{operation.name} of {service}")
        self._quotas.spend(operation.name, parameters)
        validate(operation.input_shape, parameters, service)
        fault = self._faults.next_of_call(operation.name, parameters)
        if fault is None:
            return handler(parameters)
        if fault.kind in AFTER_THE_EFFECT:
            return self._lose_response(fault, service, handler, parameters)
        number = self._faults.inject(fault).number
        if fault.kind is not Kind.LATENCY:
            raise answer(fault.kind, service, fault.operation, number)
        self._clock.wait(fault.seconds, self._clock.signal())
        return handler(parameters)

    def _lose_response(
        self, fault: Fault, service: str, handler: Handler, parameters: Parameters
    ) -> Parameters:
        """Do the work and lose the response; an error of the handler is returned as usual."""
        try:
            handler(parameters)
        except ServiceError:
            self._faults.put_back(fault)
            raise
        number = self._faults.inject(fault).number
        if fault.kind is Kind.DROPPED:
            raise ConnectionDropped
        raise answer(fault.kind, service, fault.operation, number)
