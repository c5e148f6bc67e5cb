"""
Client contexts of Lambda's Invoke, which ministack 1.5.33 doesn't pass on to the function.

https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
"""

import base64
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from ministack.core.lambda_runtime import ProvidedWorker
from ministack.services import lambda_svc

_given: ContextVar[str] = ContextVar("_given", default="")  # with the invocation at hand
_of_requests: dict[str, str] = {}  # by the ids of invocations that have one


def install() -> None:
    """Have ministack pass client contexts on, as Lambda does; call it once, before it serves."""
    invoke: Callable[..., Any] = lambda_svc._invoke

    async def invoked(name: str, event: Any, headers: Any, *rest: Any, **named: Any) -> Any:
        _given.set(base64.b64decode(headers.get("x-amz-client-context", "")).decode())
        return await invoke(name, event, headers, *rest, **named)

    lambda_svc._invoke = invoked
    work: Callable[..., Any] = ProvidedWorker.invoke

    def worked(worker: Any, event: Any, request_id: str, **named: Any) -> Any:
        _of_requests[request_id] = _given.get()
        try:
            return work(worker, event, request_id, **named)
        finally:
            del _of_requests[request_id]

    ProvidedWorker.invoke = worked
    build: Callable[..., Any] = ProvidedWorker._build_handler_class

    def built(worker: Any, *arguments: Any) -> Any:
        class Handler(build(worker, *arguments)):  # type: ignore[misc]
            disable_nagle_algorithm = True  # else the event waits for an acknowledgement

            def send_header(self, name: str, value: str) -> None:
                super().send_header(name, value)
                if name == "Lambda-Runtime-Aws-Request-Id" and _of_requests.get(value):
                    super().send_header("Lambda-Runtime-Client-Context", _of_requests[value])

        return Handler

    ProvidedWorker._build_handler_class = built
