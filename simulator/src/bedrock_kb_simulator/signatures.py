"""
Who signed a call by SigV4: nobody else's is answered. ministack's core computes it, as for its own.

A key that was deleted, or whose session has ended, still signs here: only ministack's IAM knows.
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from ministack.core.sigv4 import (
    HeaderSignature,
    header_signature_failure,
    parse_header_signature,
    request_time_failure,
)

from bedrock_kb_simulator.access_keys import RootKey
from bedrock_kb_simulator.rules import SIGNATURE_WRONG, SIGNER_UNKNOWN

_SESSION = "ASIA"


@dataclass(frozen=True, kw_only=True)
class Signatures:
    """Of the account whose root has this key, from which the others' secrets follow."""

    root: RootKey

    def check(self, scope: Any, body: bytes) -> None:
        """To a request of ASGI's; raises ServiceError."""
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        signature = parse_header_signature(headers)
        if not isinstance(signature, HeaderSignature):
            raise SIGNER_UNKNOWN.broken()
        key = signature.access_key_id
        token = self.root.token_of(key) if key.startswith(_SESSION) else None
        if headers.get("x-amz-security-token") != token:
            raise SIGNER_UNKNOWN.broken()
        failure = request_time_failure(signature) or header_signature_failure(
            signature,
            self.root.secret_of(key),
            scope["method"],
            scope["raw_path"].decode(),
            parse_qs(scope["query_string"].decode(), keep_blank_values=True),
            headers,
            body,
        )
        if failure:
            raise SIGNATURE_WRONG.broken()
