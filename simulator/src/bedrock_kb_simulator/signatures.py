"""
Who signed a call by SigV4: nobody else's is answered. botocore computes it, as its clients do.

A key that was deleted, or whose session has ended, still signs here: there is no IAM to ask.
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
    """Names of `headers` are lower-case; `url` is as it was asked for, with the query."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes

    @classmethod
    def of(cls, scope: Any, body: bytes) -> "Request":
        """From ASGI's."""
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        query = f"?{text}" if (text := scope["query_string"].decode()) else ""
        url = f"http://{headers.get('host', '')}{scope['raw_path'].decode()}{query}"
        return cls(method=scope["method"], url=url, headers=headers, body=body)


@dataclass(frozen=True, kw_only=True)
class Signature:
    """What a request says of who signed it; `headers` are those that he signed."""

    key: str
    region: str
    service: str
    headers: frozenset[str]
    day: str
    value: str

    @classmethod
    def of(cls, request: Request) -> "Signature | None":
        """None of a request that is not signed, or not like this."""
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

    def is_right(self, request: Request, secret: str, *, seconds: float) -> bool:
        """Whether it is of this request and this secret, at most so many seconds ago, or ahead."""
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
        right = auth.signature(auth.string_to_sign(made, auth.canonical_request(made)), made)
        return hmac.compare_digest(right, self.value)


@dataclass(frozen=True, kw_only=True)
class Signatures:
    """Of the account whose root has this key, from which the others' secrets follow."""

    root: RootKey

    def check(self, scope: Any, body: bytes) -> str:
        """The id of the access key that signed a request of ASGI's; raises ServiceError."""
        request = Request.of(scope, body)
        signature = Signature.of(request)
        if signature is None:
            raise rules.SIGNER_UNKNOWN.broken()
        key = signature.key
        token = self.root.token_of(key) if key.startswith(_SESSION) else None
        if request.headers.get("x-amz-security-token") != token:
            raise rules.SIGNER_UNKNOWN.broken()
        secret = self.root.secret_of(key)
        if not signature.is_right(request, secret, seconds=rules.SIGNATURE_WRONG.value):
            raise rules.SIGNATURE_WRONG.broken()
        return key


def _seconds_since(date: str) -> float:
    """Infinitely many of what is no date."""
    try:
        at = datetime.strptime(date, _DATE).replace(tzinfo=UTC)
    except ValueError:
        return float("inf")
    return abs((datetime.now(UTC) - at).total_seconds())
