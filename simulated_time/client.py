"""
Clients like boto3's for the simulated services, without HTTP; the product's adapters call them.

They retry as the product configures boto3 (standard mode, four attempts) and raise botocore's
errors, so that an adapter catches the same errors as with AWS.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import botocore.session
from botocore import xform_name
from botocore.exceptions import ClientError, ConnectionClosedError

from bedrock_kb_simulator.dispatcher import Dispatcher
from bedrock_kb_simulator.service_errors import ConnectionDropped, ServiceError
from simulated_time.bill import Bill

_ATTEMPTS = 4
# Seconds between attempts: random(0, 1) times a doubling, capped [botocore's standard mode].
_LONGEST_BACKOFF = 20.0
_THROTTLED = 429
_UNMODELLED = 503  # as the simulator's server has it


@dataclass(frozen=True, kw_only=True)
class Client:
    """
    `spend` lets the time of a call pass; `bill` counts attempts, and those that succeed. A call is
    made at most `attempts` times.
    """

    service: str
    dispatcher: Dispatcher
    spend: Callable[[float], None]
    bill: Bill
    latency: float
    chance: random.Random
    attempts: int = _ATTEMPTS

    @property
    def exceptions(self) -> Any:
        return _Exceptions()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        operation = _operations(self.service)[name]
        return lambda **parameters: self._call(operation, parameters)

    def get_paginator(self, name: str) -> "Paginator":
        return Paginator(getattr(self, name))

    def _call(self, operation: Any, parameters: dict[str, Any]) -> Any:
        for attempt in range(self.attempts - 1):
            try:
                return self._attempt(operation, parameters)
            except ClientError as error:
                if not _passes(error.response["ResponseMetadata"]["HTTPStatusCode"]):
                    raise
            except ConnectionClosedError:
                pass  # retried like an error of the server's
            self.spend(self.chance.random() * min(2.0**attempt, _LONGEST_BACKOFF))
        return self._attempt(operation, parameters)

    def _attempt(self, operation: Any, parameters: dict[str, Any]) -> Any:
        self.bill.calls[operation.name] += 1
        self.spend(self.latency)
        try:
            answer = self.dispatcher.call(operation, parameters)
        except ServiceError as error:
            raise _raised(operation, error) from error
        except ConnectionDropped as error:
            raise ConnectionClosedError(endpoint_url=self.service) from error
        self.bill.accepted[operation.name] += 1
        if operation.name == "Retrieve":
            self.bill.add("vector queries", 1)
        return answer


@dataclass(frozen=True)
class Paginator:
    call: Callable[..., Any]

    def paginate(self, **parameters: Any) -> Iterator[Any]:
        page = self.call(**parameters)
        yield page
        while page.get("nextToken"):
            page = self.call(**parameters, nextToken=page["nextToken"])
            yield page


class _Exceptions:
    def __getattr__(self, code: str) -> type[ClientError]:
        return exception(code)


@cache
def exception(code: str) -> type[ClientError]:
    return type(code, (ClientError,), {})


def _raised(operation: Any, error: ServiceError) -> ClientError:
    response: Any = {
        "Error": {"Code": error.code, "Message": error.message},
        "ResponseMetadata": {"HTTPStatusCode": _status(operation, error.code)},
    }
    return exception(error.code)(response, operation.name)


def _passes(status: int) -> bool:
    return status == _THROTTLED or status >= 500


@cache
def _operations(service: str) -> dict[str, Any]:
    model = botocore.session.get_session().get_service_model(service)
    return {xform_name(name): model.operation_model(name) for name in model.operation_names}


def _status(operation: Any, code: str) -> int:
    shape = operation.service_model.shape_for_error_code(code)
    status: int = shape.metadata["error"]["httpStatusCode"] if shape is not None else _UNMODELLED
    return status
