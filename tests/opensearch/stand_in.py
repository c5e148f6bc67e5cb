"""
Collections of OpenSearch Serverless, at `/aoss/<collection>/` of a simulator that has this mounted.

It checks what a client can get wrong: the signature, its permissions, the form of a query.
Signature comes first, then access, then the fault that was asked for, then the operation. Not there
are hybrid and neural queries, search pipelines, scripts, aggregations, sorting, highlights, nested
objects, aliases and updates of mappings, which are refused as unknown; and the minute until a
document of a collection for vectors is found.

    POST /aoss/   {"collection": NAME} makes one of this name.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bedrock_kb_simulator.service_errors import ConnectionDropped
from bedrock_kb_simulator.signatures import Request, Signature
from tests.opensearch.operations import Operations
from tests.opensearch.rules import SIGNATURE_SECONDS, Refused, forbidden, missing

PREFIX = "/aoss/"
REGION = "us-east-1"
_PATH = re.compile(r"/aoss/(?P<collection>[^/]+)/(?P<index>[^/_][^/]*)(/(?P<rest>.+))?")

_DEMANDED = {"host", "x-amz-content-sha256", "x-amz-date"}


@dataclass(frozen=True, kw_only=True)
class Principal:
    """Who signs with an access key; `permissions` are as a data access policy gives them."""

    secret_key: str
    permissions: frozenset[str] = frozenset()


def signer_of(request: Request, principals: Mapping[str, Principal], *, region: str) -> Principal:
    """Raises Refused for a request that isn't signed by SigV4 for the service aoss."""
    signature = Signature.of(request)
    principal = principals.get(signature.key) if signature else None
    if signature is None or principal is None:
        raise forbidden()
    if (signature.service, signature.region) != ("aoss", region):
        raise forbidden()
    if not signature.headers >= _DEMANDED:
        raise forbidden()
    if request.headers["x-amz-content-sha256"] != hashlib.sha256(request.body).hexdigest():
        raise forbidden()
    if not signature.is_valid(request, principal.secret_key, seconds=SIGNATURE_SECONDS):
        raise forbidden()
    return principal


class Kind(StrEnum):
    THROTTLE = "throttle"
    DROPPED = "dropped"  # the connection ends without an answer


@dataclass(kw_only=True)
class Fault:
    """Meets the next `times` calls of `operation` whose path has `where` in it."""

    operation: str
    kind: Kind
    where: str
    times: int = 1


@dataclass(frozen=True, kw_only=True)
class OpenSearch:
    """`principals` are who may sign, by access key; `faults` are met in their order."""

    principals: Mapping[str, Principal]
    faults: list[Fault] = field(default_factory=list)
    _collections: set[str] = field(default_factory=set)
    _operations: Operations = field(default_factory=Operations)

    def answer(self, scope: Mapping[str, Any], body: bytes) -> tuple[int, dict[str, str], bytes]:
        """To a request of ASGI's; raises ConnectionDropped."""
        if scope["path"] == PREFIX:
            return self._ordered(json.loads(body))
        try:
            return _json(200, self._answered(scope["path"], Request.of(scope, body)))
        except Refused as error:
            return _json(error.status, error.body)

    def _ordered(self, order: Mapping[str, str]) -> tuple[int, dict[str, str], bytes]:
        self._collections.add(order["collection"])
        return _json(200, {})

    def _answered(self, path: str, request: Request) -> Any:
        signer = signer_of(request, self.principals, region=REGION)
        found = _PATH.fullmatch(path)
        operation = self._operations.of(request.method, found["rest"]) if found else None
        if found is None or operation is None:
            raise missing(f"handler found for uri [{path}] and method [{request.method}]")
        collection, index = found["collection"], found["index"]
        if collection not in self._collections:
            raise missing(f"such collection [{collection}]")
        if operation.permission not in signer.permissions:
            raise forbidden()
        fault = self._met(operation.name, path)
        if fault is not None and fault.kind is Kind.DROPPED:
            raise ConnectionDropped
        if fault is not None:
            raise Refused(429, "too_many_requests", "injected")
        return operation.answers(collection, index, request.body)

    def _met(self, operation: str, path: str) -> Fault | None:
        for fault in self.faults:
            if fault.operation == operation and fault.where in path and fault.times:
                fault.times -= 1
                return fault
        return None


def _json(status: int, answered: Any) -> tuple[int, dict[str, str], bytes]:
    return status, {"Content-Type": "application/json"}, json.dumps(answered).encode()
