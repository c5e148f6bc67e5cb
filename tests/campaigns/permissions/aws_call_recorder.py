"""
Records the AWS calls of a function in its own process: the evidence of `make permissions`.

The local mode calls `begin` in each process of a function if STACKROOM_PROCESS_HOOK names this
module. The process then writes a file in the directory that STACKROOM_RECORD_CALLS names, with one
line of JSON for each call: the function, the service, the operation with its parameters, AWS's
error code if there was one, and the module of the product that made it.
"""

import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

VARIABLE = "STACKROOM_RECORD_CALLS"
_ADAPTERS = (
    "stackroom.aws.",
    "stackroom_stores.",
    "stackroom.app.",
    "stackroom_agents.agent_sessions",
    "stackroom_agents.user_agents.agent_records",
)
_PRODUCT = ("stackroom.", "stackroom_agents.", "stackroom_console.", "functions.")
_STRANDS = "strands."  # asks models, and calls tools of others', in threads of its own

Write = Callable[[dict[str, Any]], object]


def begin(function: str) -> None:
    """Start recording. Call it once, before importing the handler."""
    file = Path(os.environ[VARIABLE], f"{function}-{os.getpid()}.jsonl")
    lock = threading.Lock()

    def write(call: dict[str, Any]) -> None:
        line = json.dumps({"function": function, **call}, default=_shortened) + "\n"
        with lock, file.open("a") as lines:
            lines.write(line)

    record(write)


def record(write: Write) -> Callable[[], None]:
    """
    Pass each call, of present and future clients, to `write`. Call the returned function to stop.
    """
    # Imported here because a process that records nothing may have no use for botocore.
    import botocore.client  # noqa: PLC0415
    import botocore.signers  # noqa: PLC0415

    client: Any = botocore.client.BaseClient  # the stubs leave out what clients call within
    signers = botocore.signers
    replaced = (
        (client, "_make_api_call", _calling(client._make_api_call, write)),
        # A link is used by whoever has it, with the rights of whoever signed it.
        (signers, "generate_presigned_url", _signing(signers.generate_presigned_url, write)),
        (signers, "generate_presigned_post", _posting(signers.generate_presigned_post, write)),
    )
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in replaced]
    for owner, name, each in replaced:
        setattr(owner, name, each)

    def end() -> None:
        for owner, name, each in before:
            setattr(owner, name, each)

    return end


def _calling(call: Callable[..., Any], write: Write) -> Callable[..., Any]:
    def make_api_call(self: Any, operation_name: str, api_params: dict[str, Any]) -> Any:
        record = _call_record(self, operation_name, api_params)
        try:
            answer = call(self, operation_name, api_params)
        except Exception as error:  # the right was needed all the same
            response = getattr(error, "response", None)  # botocore's ClientError has AWS's own code
            code = response["Error"]["Code"] if response else type(error).__name__
            write(record | {"error": code})
            raise
        write(record)
        return answer

    return make_api_call


def _signing(sign: Callable[..., Any], write: Write) -> Callable[..., Any]:
    # botocore's spelling.
    def generate_presigned_url(
        self: Any,
        ClientMethod: str,  # noqa: N803
        Params: dict[str, Any] | None = None,  # noqa: N803
        *arguments: Any,
        **more: Any,
    ) -> Any:
        operation = self._PY_TO_OP_NAME[ClientMethod]
        write(_call_record(self, operation, Params or {}) | {"signed": True})
        return sign(self, ClientMethod, Params, *arguments, **more)

    return generate_presigned_url


def _posting(sign: Callable[..., Any], write: Write) -> Callable[..., Any]:
    def generate_presigned_post(
        self: Any,
        Bucket: str,  # noqa: N803
        Key: str,  # noqa: N803
        *arguments: Any,
        **more: Any,
    ) -> Any:
        record = _call_record(self, "PutObject", {"Bucket": Bucket, "Key": Key})
        write(record | {"signed": True})
        return sign(self, Bucket, Key, *arguments, **more)

    return generate_presigned_post


def _call_record(client: Any, operation: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "service": client.meta.service_model.service_name,
        "operation": operation,
        "parameters": {name: each for name, each in parameters.items() if name != "Body"},
        "wanted_by": _wanted_by(),
    }


def _wanted_by() -> str:
    """
    Return the module that made the call: the innermost one that is no adapter, or else the
    handler's.

    In a thread of an adapter or of Strands without such a module, it is the module of the thread.
    """
    adapter, frame = "", sys._getframe().f_back
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith(_ADAPTERS):
            adapter = module
        elif module.startswith(_PRODUCT):
            return module
        elif module.startswith(_STRANDS):
            adapter = adapter or module
        frame = frame.f_back
    return adapter


def _shortened(value: Any) -> str:
    """
    Return the type's name in place of bytes and dates, which JSON can't carry and no right needs.
    """
    return type(value).__name__
