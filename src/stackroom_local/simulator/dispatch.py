"""The one way in: every request of every simulated service passes `Dispatcher.call`."""

from collections.abc import Callable, Mapping
from typing import Any

from stackroom_local.simulator.quotas import Quotas
from stackroom_local.simulator.rules import NOT_SIMULATED
from stackroom_local.simulator.validation import validate

Parameters = dict[str, Any]
Handler = Callable[[Parameters], Parameters]


class Dispatcher:
    """Rate first, then the model's constraints, then the operation itself, as AWS orders them."""

    def __init__(self, quotas: Quotas, handlers: Mapping[str, Handler]) -> None:
        self._quotas = quotas
        self._handlers = handlers

    def call(self, operation: Any, parameters: Parameters) -> Parameters:
        """`operation` is the service model's; raises ServiceError."""
        service = operation.service_model.service_name
        handler = self._handlers.get(f"{service}.{operation.name}")
        if handler is None:
            raise NOT_SIMULATED.broken(what=f"{operation.name} of {service}")
        self._quotas.spend(operation.name)
        validate(operation.input_shape, parameters)
        return handler(parameters)
