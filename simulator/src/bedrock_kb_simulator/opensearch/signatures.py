"""SigV4 as OpenSearch Serverless checks it: who signed this request, and whether they did."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from bedrock_kb_simulator.opensearch.refusals import refused
from bedrock_kb_simulator.rules import AOSS_SIGNATURE

_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/(?P<day>\d{8})/(?P<region>[^/]+)/aoss/"
    r"aws4_request,"
    r" ?SignedHeaders=(?P<signed>[a-z0-9;-]+), ?Signature=(?P<signature>[0-9a-f]{64})"
)
_DATE = "%Y%m%dT%H%M%SZ"
_DEMANDED = {"host", "x-amz-content-sha256", "x-amz-date"}


@dataclass(frozen=True, kw_only=True)
class Principal:
    """Who signs with an access key; a `token` goes with the keys of a role."""

    arn: str
    secret_key: str
    token: str | None = None


@dataclass(frozen=True, kw_only=True)
class Request:
    """Names of `headers` are lower-case; `url` is as it was asked for, with the query."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


def signer_of(request: Request, principals: Mapping[str, Principal], *, region: str) -> Principal:
    """Rule aoss.signature: raises Refused for any request that isn't signed like that."""
    found = _AUTHORIZATION.fullmatch(request.headers.get("authorization", ""))
    principal = principals.get(found["key"]) if found else None
    if found is None or principal is None or found["region"] != region:
        raise refused(AOSS_SIGNATURE)
    signed = set(found["signed"].split(";"))
    if not signed >= _DEMANDED or not signed <= request.headers.keys():
        raise refused(AOSS_SIGNATURE)
    if request.headers["x-amz-content-sha256"] != hashlib.sha256(request.body).hexdigest():
        raise refused(AOSS_SIGNATURE)
    if principal.token != request.headers.get("x-amz-security-token"):
        raise refused(AOSS_SIGNATURE)
    date = request.headers["x-amz-date"]
    if not date.startswith(found["day"]) or _seconds_since(date) > AOSS_SIGNATURE.value:
        raise refused(AOSS_SIGNATURE)
    right = _signature(request, signed, principal, date, key=found["key"], region=region)
    if not hmac.compare_digest(right, found["signature"]):
        raise refused(AOSS_SIGNATURE)
    return principal


def _seconds_since(date: str) -> float:
    try:
        at = datetime.strptime(date, _DATE).replace(tzinfo=UTC)
    except ValueError:
        raise refused(AOSS_SIGNATURE) from None
    return abs((datetime.now(UTC) - at).total_seconds())


def _signature(
    request: Request, signed: set[str], principal: Principal, date: str, *, key: str, region: str
) -> str:
    auth = SigV4Auth(Credentials(key, principal.secret_key), "aoss", region)
    made = AWSRequest(
        method=request.method,
        url=request.url,
        data=request.body,
        headers={name: request.headers[name] for name in sorted(signed)},
    )
    made.context["timestamp"] = date
    return auth.signature(auth.string_to_sign(made, auth.canonical_request(made)), made)
