"""
Verification of SigV4 signatures, computed by botocore as its clients do.

Deleted keys and expired sessions still sign here: there is no IAM to ask.
"""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.access_keys import RootKey

_SESSION = "ASIA"
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/(?P<day>\d{8})/(?P<region>[^/]+)/"
    r"(?P<service>[^/]+)/aws4_request,"
    r" ?SignedHeaders=(?P<signed>[a-z0-9;-]+), ?Signature=(?P<signature>[0-9a-f]{64})"
)
_DATE = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request to verify; header names are in lower case, `url` has the query."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes

    @classmethod
    def of(cls, scope: Any, body: bytes) -> "Request":
        """Return the request of an ASGI scope."""
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        query = f"?{text}" if (text := scope["query_string"].decode()) else ""
        url = f"http://{headers.get('host', '')}{scope['raw_path'].decode()}{query}"
        return cls(method=scope["method"], url=url, headers=headers, body=body)


@dataclass(frozen=True, kw_only=True)
class Signature:
    """The signature in a request, with the names of its signed headers."""

    key: str
    region: str
    service: str
    headers: frozenset[str]
    day: str
    value: str

    @classmethod
    def of(cls, request: Request) -> "Signature | None":
        """Return the signature of a request, or None if it has no SigV4 signature."""
        found = _AUTHORIZATION.fullmatch(request.headers.get("authorization", ""))
        if found is None:
            return None
        headers = frozenset(found["signed"].split(";"))
        if not headers <= request.headers.keys():
            return None
        return cls(
            headers=headers,
            value=found["signature"],
            **{name: found[name] for name in ("key", "region", "service", "day")},
        )

    def is_valid(self, request: Request, secret: str, *, seconds: float) -> bool:
        """Return True if it signs this request with this secret, within some seconds of now."""
        date = request.headers.get("x-amz-date", "")
        if not date.startswith(self.day) or _seconds_since(date) > seconds:
            return False
        auth = SigV4Auth(Credentials(self.key, secret), self.service, self.region)
        made = AWSRequest(
            method=request.method,
            url=request.url,
            data=request.body,
            headers={name: request.headers[name] for name in sorted(self.headers)},
        )
        made.context["timestamp"] = date
        expected = auth.signature(auth.string_to_sign(made, auth.canonical_request(made)), made)
        return hmac.compare_digest(expected, self.value)


@dataclass(frozen=True, kw_only=True)
class Signatures:
    """The signatures of an account; all secrets derive from its root key."""

    root: RootKey

    def check(self, scope: Any, body: bytes) -> str:
        """Return the id of the access key that signed a request; raises ServiceError."""
        request = Request.of(scope, body)
        signature = Signature.of(request)
        if signature is None:
            raise rules.SIGNER_UNKNOWN.broken()
        key = signature.key
        token = self.root.token_of(key) if key.startswith(_SESSION) else None
        if request.headers.get("x-amz-security-token") != token:
            raise rules.SIGNER_UNKNOWN.broken()
        secret = self.root.secret_of(key)
        if not signature.is_valid(request, secret, seconds=rules.SIGNATURE_WRONG.value):
            raise rules.SIGNATURE_WRONG.broken()
        return key


def _seconds_since(date: str) -> float:
    """Return the seconds between a date and now, infinite for an invalid one."""
    try:
        at = datetime.strptime(date, _DATE).replace(tzinfo=UTC)
    except ValueError:
        return float("inf")
    return abs((datetime.now(UTC) - at).total_seconds())
