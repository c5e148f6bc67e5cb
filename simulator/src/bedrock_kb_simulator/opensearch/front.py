"""
Requests of a collection: `/aoss/<collection id>/<index>/...`, as its host has them on AWS.

Signature, then access, then the fault that was asked for, then the operation.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator.clock import Clock
from bedrock_kb_simulator.errors import ConnectionDropped
from bedrock_kb_simulator.faults import Fault, Faults, Kind
from bedrock_kb_simulator.opensearch import searches
from bedrock_kb_simulator.opensearch.collections import Collections
from bedrock_kb_simulator.opensearch.operations import Operations
from bedrock_kb_simulator.opensearch.refusals import Refused, refused
from bedrock_kb_simulator.opensearch.signatures import Principal, Request, signer_of
from bedrock_kb_simulator.rules import AOSS_OPERATION

Response = tuple[int, dict[str, str], bytes]

PREFIX = "/aoss/"
_PATH = re.compile(r"/aoss/(?P<collection>[^/]+)/(?P<index>[^/_][^/]*)(/(?P<rest>.+))?")
# What a fault of a kind answers, and its status.
_FAULTS: Mapping[Kind, tuple[int, str]] = {
    Kind.THROTTLE: (429, "too_many_requests"),
    Kind.INTERNAL: (500, "internal_server_error"),
    Kind.UNAVAILABLE: (503, "service_unavailable"),
    Kind.LOST: (503, "service_unavailable"),
}


@dataclass(frozen=True, kw_only=True)
class OpenSearchFront:
    collections: Collections
    operations: Operations
    faults: Faults
    clock: Clock
    principals: Mapping[str, Principal]

    def answer(self, scope: Mapping[str, Any], body: bytes) -> Response:
        """To a request of ASGI's; raises ConnectionDropped."""
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        query = f"?{text}" if (text := scope["query_string"].decode()) else ""
        request = Request(
            method=scope["method"],
            url=f"http://{headers.get('host', '')}{scope['raw_path'].decode()}{query}",
            headers=headers,
            body=body,
        )
        try:
            status, answered = 200, self._answered(scope["path"], request)
        except Refused as error:
            status, answered = error.status, error.body
        return status, {"Content-Type": "application/json"}, json.dumps(answered).encode()

    def _answered(self, path: str, request: Request) -> Any:
        signer = signer_of(request, self.principals, region=self.collections.region)
        found = _PATH.fullmatch(path)
        operation = self.operations.of(request.method, found["rest"]) if found else None
        if found is None or operation is None:
            raise refused(AOSS_OPERATION, path=path, method=request.method)
        collection, index = found["collection"], found["index"]
        self.collections.check(signer, operation.permission, collection, index)
        fault = self.faults.of_call(operation.name, path)
        if fault is not None:
            self._meet(fault)
        answered = operation.answers(collection, index, request.body)
        return answered if fault is None else _spoilt(fault, answered)

    def _meet(self, fault: Fault) -> None:
        """What is worse than late, or than an answer that is not whole."""
        self.faults.inject(fault)
        if fault.kind is Kind.LATENCY:
            self.clock.wait(fault.seconds, self.clock.signal())
        elif fault.kind in _FAULTS:
            status, kind = _FAULTS[fault.kind]
            raise Refused(status, kind, "injected")
        elif fault.kind is Kind.DROPPED:
            raise ConnectionDropped


def _spoilt(fault: Fault, answered: Any) -> Any:
    if fault.kind is Kind.NONSENSE:
        return {"took": 1, "hits": "several"}
    if fault.kind is not Kind.PARTIAL:
        return answered
    if "responses" in answered:
        whole, *others = answered["responses"]
        return {**answered, "responses": [searches.partial(whole), *others]}
    return searches.partial(answered)
