"""Ids, ARNs and page tokens in AWS's forms, and client tokens."""

import base64
import binascii
import hashlib
import secrets
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.aws_clock import Clock
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.store import Store, dumped, loaded

_ALPHABET = string.ascii_uppercase + string.digits

Item = TypeVar("Item")


def new_id() -> str:
    """Return ten letters and digits, the form of Bedrock's ids."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(10))


def new_guardrail_id() -> str:
    """Return twelve lower-case letters and digits, the form of a guardrail's id."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(12)).lower()


@dataclass(frozen=True, kw_only=True)
class Arns:
    """The ARNs of resources in the simulator's account and region."""

    account: str
    region: str

    def knowledge_base(self, knowledge_base_id: str) -> str:
        return f"arn:aws:bedrock:{self.region}:{self.account}:knowledge-base/{knowledge_base_id}"

    def guardrail(self, guardrail_id: str) -> str:
        return f"arn:aws:bedrock:{self.region}:{self.account}:guardrail/{guardrail_id}"

    def vector_bucket(self, bucket: str) -> str:
        return f"arn:aws:s3vectors:{self.region}:{self.account}:bucket/{bucket}"

    def index(self, bucket: str, index: str) -> str:
        return f"{self.vector_bucket(bucket)}/index/{index}"


@dataclass(frozen=True, kw_only=True)
class ClientTokens:
    """Client tokens, by which a repeated request returns the first one's resource."""

    store: Store
    clock: Clock

    def resource_of(self, scope: str, token: str | None) -> str | None:
        """Return the resource that this token created in this scope, until the token expires."""
        if token is None:
            return None
        row = self.store.row(
            "SELECT resource FROM client_tokens WHERE scope = ? AND token = ? AND expires_at > ?",
            scope,
            token,
            self.clock.after(0),
        )
        return None if row is None else str(row["resource"])

    def remember(self, scope: str, token: str | None, resource: str) -> None:
        if token is None:
            return
        expires_at = self.clock.after(rules.CLIENT_TOKEN_LIFETIME.value)
        row = {"scope": scope, "token": token, "resource": resource, "expires_at": expires_at}
        self.store.insert("client_tokens", row)


def page(
    items: Sequence[Item], parameters: dict[str, Any], key: Callable[[Item], str], *, size: int
) -> tuple[Sequence[Item], dict[str, str]]:
    """
    Return a page of `items`, sorted by `key`, and the response members for the next page.

    A token is the last key of its page, so a list that changes meanwhile skips nothing.
    """
    after = position(parameters.get("nextToken"))
    rest = [item for item in items if key(item) > after]
    size = min(parameters.get("maxResults") or size, size)
    if len(rest) <= size:
        return rest, {}
    return rest[:size], {"nextToken": token_of(key(rest[size - 1]))}


def token_of(last: str) -> str:
    """Return the token of the page after this key."""
    return base64.urlsafe_b64encode(last.encode()).decode()


def position(token: str | None) -> str:
    """Return the last key of the previous page, or an empty string without a token."""
    if token is None:
        return ""
    try:
        return base64.urlsafe_b64decode(token).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise rules.MODEL_CONSTRAINT.broken(at="nextToken", must="Member must be a token") from None


# The nextToken of a search: opaque, valid for one request and for a limited time.


def token_for(parameters: Parameters, start: int, *, clock: Clock) -> str:
    """Return the token of the page from `start`: rule retrieve.next-token."""
    token = dumped([start, clock.after(rules.RETRIEVE_TOKEN.value), _digest(parameters)])
    return base64.urlsafe_b64encode(token.encode()).decode()


def start_of(parameters: Parameters, *, clock: Clock) -> int:
    """Return the start of the requested page; raises ServiceError for an invalid token."""
    token = parameters.get("nextToken")
    if token is None:
        return 0
    try:
        start, until, digest = loaded(base64.urlsafe_b64decode(token).decode())
    except (binascii.Error, ValueError, TypeError):
        raise rules.RETRIEVE_TOKEN.broken() from None
    if digest != _digest(parameters) or until < clock.after(0):
        raise rules.RETRIEVE_TOKEN.broken()
    return int(start)


def _digest(parameters: Parameters) -> str:
    """Return a digest of the request that a page belongs to."""
    request = {name: parameters[name] for name in sorted(parameters) if name != "nextToken"}
    return hashlib.sha256(dumped(request).encode()).hexdigest()[:32]
