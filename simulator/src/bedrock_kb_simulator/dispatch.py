"""The one way in: every request of every simulated service passes `Dispatcher.call`."""

from collections.abc import Callable, Mapping
from typing import Any

from bedrock_kb_simulator.clock import Clock
from bedrock_kb_simulator.disturbances import AFTER_THE_EFFECT, Kind, answer
from bedrock_kb_simulator.errors import ConnectionDropped, ServiceError
from bedrock_kb_simulator.faults import Fault, Faults
from bedrock_kb_simulator.quotas import Quotas
from bedrock_kb_simulator.rules import NOT_SIMULATED
from bedrock_kb_simulator.validation import validate

Parameters = dict[str, Any]
Handler = Callable[[Parameters], Parameters]


class Dispatcher:
    """
    Rate first, then the model's constraints, then the operation itself, as AWS orders them.

    Faults meet only what would have reached the operation.
    """

    def __init__(
        self, quotas: Quotas, handlers: Mapping[str, Handler], *, clock: Clock, faults: Faults
    ) -> None:
        self._quotas = quotas
        self._handlers = handlers
        self._clock = clock
        self._faults = faults

    def call(self, operation: Any, parameters: Parameters) -> Parameters:
        """`operation` is the service model's; raises ServiceError, or ConnectionDropped."""
        service = operation.service_model.service_name
        handler = self._handlers.get(f"{service}.{operation.name}")
        if handler is None:
            raise NOT_SIMULATED.broken(what=f"{operation.name} of {service}")
        self._quotas.spend(operation.name, parameters)
        validate(operation.input_shape, parameters)
        fault = self._faults.of_call(operation.name, parameters)
        if fault is None:
            return handler(parameters)
        if fault.kind in AFTER_THE_EFFECT:
            return self._lose(fault, service, handler, parameters)
        number = self._faults.inject(fault).number
        if fault.kind is not Kind.LATENCY:
            raise answer(fault.kind, service, fault.operation, number)
        self._clock.wait(fault.seconds, self._clock.signal())
        return handler(parameters)

    def _lose(
        self, fault: Fault, service: str, handler: Handler, parameters: Parameters
    ) -> Parameters:
        """The effect without the answer; a refusal had no effect, and is answered."""
        try:
            handler(parameters)
        except ServiceError:
            self._faults.put_back(fault)
            raise
        number = self._faults.inject(fault).number
        if fault.kind is Kind.DROPPED:
            raise ConnectionDropped
        raise answer(fault.kind, service, fault.operation, number)
