"""
Collections of OpenSearch Serverless, at `/aoss/<collection>/` of a simulator that has this mounted.

It checks what a client can get wrong: the signature, the data access policy, the form of a query.
Signature comes first, then access, then the fault that was asked for, then the operation. Not there
are hybrid and neural queries, search pipelines, scripts, aggregations, sorting, highlights, nested
objects, aliases and updates of mappings, which are refused as unknown; and the minute until a
document of a collection for vectors is found.

    POST /aoss/   {"collection": NAME} makes one of this name, and {"policy": NAME, "says": TEXT} a
                  data access policy. 400 for what is no policy.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bedrock_kb_simulator.service_errors import ConnectionDropped
from bedrock_kb_simulator.signatures import Request, Signature
from tests.opensearch.operations import Operations
from tests.opensearch.rules import (
    AOSS_ACCESS,
    AOSS_COLLECTION,
    AOSS_OPERATION,
    AOSS_SIGNATURE,
    Refused,
)

PREFIX = "/aoss/"
REGION = "us-east-1"
_PATH = re.compile(r"/aoss/(?P<collection>[^/]+)/(?P<index>[^/_][^/]*)(/(?P<rest>.+))?")

_DEMANDED = {"host", "x-amz-content-sha256", "x-amz-date"}


@dataclass(frozen=True, kw_only=True)
class Principal:
    """Who signs with an access key; a `token` goes with the keys of a role."""

    arn: str
    secret_key: str
    token: str | None = None


def signer_of(request: Request, principals: Mapping[str, Principal], *, region: str) -> Principal:
    """Rule aoss.signature: raises Refused for any request that isn't signed like that."""
    signature = Signature.of(request)
    principal = principals.get(signature.key) if signature else None
    if signature is None or principal is None:
        raise AOSS_SIGNATURE.refused()
    if (signature.service, signature.region) != ("aoss", region):
        raise AOSS_SIGNATURE.refused()
    if not signature.headers >= _DEMANDED:
        raise AOSS_SIGNATURE.refused()
    if request.headers["x-amz-content-sha256"] != hashlib.sha256(request.body).hexdigest():
        raise AOSS_SIGNATURE.refused()
    if principal.token != request.headers.get("x-amz-security-token"):
        raise AOSS_SIGNATURE.refused()
    if not signature.is_valid(request, principal.secret_key, seconds=AOSS_SIGNATURE.value):
        raise AOSS_SIGNATURE.refused()
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
    _policies: dict[str, Any] = field(default_factory=dict)
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
        if "collection" in order:
            self._collections.add(order["collection"])
        if "policy" in order:
            try:
                self._policies[order["policy"]] = _checked(order["says"])
            except ValueError as error:
                return _json(400, {"message": str(error)})
        return _json(200, {})

    def _answered(self, path: str, request: Request) -> Any:
        signer = signer_of(request, self.principals, region=REGION)
        found = _PATH.fullmatch(path)
        operation = self._operations.of(request.method, found["rest"]) if found else None
        if found is None or operation is None:
            raise AOSS_OPERATION.refused(path=path, method=request.method)
        collection, index = found["collection"], found["index"]
        self._check(signer, operation.permission, collection, index)
        fault = self._met(operation.name, path)
        if fault is not None and fault.kind is Kind.DROPPED:
            raise ConnectionDropped
        if fault is not None:
            raise Refused(429, "too_many_requests", "injected")
        return operation.answers(collection, index, request.body)

    def _check(self, principal: Principal, permission: str, collection: str, index: str) -> None:
        """Rules aoss.collection and aoss.access."""
        if collection not in self._collections:
            raise AOSS_COLLECTION.refused(name=collection)
        resource = f"index/{collection}/{index}"
        for statement in (each for policy in self._policies.values() for each in policy):
            if principal.arn in statement["Principal"] and any(
                permission in rule["Permission"] and _is_among(resource, rule["Resource"])
                for rule in statement["Rules"]
                if rule["ResourceType"] == "index"
            ):
                return
        raise AOSS_ACCESS.refused()

    def _met(self, operation: str, path: str) -> Fault | None:
        for fault in self.faults:
            if fault.operation == operation and fault.where in path and fault.times:
                fault.times -= 1
                return fault
        return None


def _json(status: int, answered: Any) -> tuple[int, dict[str, str], bytes]:
    return status, {"Content-Type": "application/json"}, json.dumps(answered).encode()


def _is_among(resource: str, patterns: Iterable[str]) -> bool:
    """A `*` stands for the rest."""
    return any(
        resource.startswith(pattern[:-1]) if pattern.endswith("*") else resource == pattern
        for pattern in patterns
    )


def _checked(text: str) -> Any:
    """https://docs.aws.amazon.com/opensearch-service/latest/developerguide/serverless-data-access.md"""
    problem = ValueError("Policy json is invalid")
    try:
        policy = json.loads(text)
        for statement in policy:
            known = {"Rules", "Principal", "Description"}
            if not statement["Principal"] or not statement["Rules"] or statement.keys() - known:
                raise problem
            for rule in statement["Rules"]:
                prefix = f"{rule['ResourceType']}/"
                is_named = all(each.startswith(prefix) for each in rule["Resource"])
                if not is_named or rule.keys() != {"ResourceType", "Resource", "Permission"}:
                    raise problem
                if not all(each.startswith("aoss:") for each in rule["Permission"]):
                    raise problem
    except (ValueError, KeyError, TypeError, AttributeError):
        raise problem from None
    return policy
