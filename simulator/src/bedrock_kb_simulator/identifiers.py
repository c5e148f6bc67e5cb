"""Ids, ARNs and page tokens in AWS's forms, and what a client token has already made."""

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
    """Ten letters and digits, as every Bedrock id is."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(10))


def new_guardrail_id() -> str:
    """Twelve, and in small letters."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(12)).lower()


@dataclass(frozen=True, kw_only=True)
class Arns:
    """What the resources of the simulator's account and region are called."""

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
    """Makes a repeated request answer the first one's resource."""

    store: Store
    clock: Clock

    def made(self, scope: str, token: str | None) -> str | None:
        """The resource that this token made in this scope, while the token lives."""
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
    One page of `items`, which are sorted by `key`, and the members that name the next page.

    The token is the last key of the page before, so a list that changes meanwhile skips nothing.
    """
    after = position(parameters.get("nextToken"))
    rest = [item for item in items if key(item) > after]
    size = min(parameters.get("maxResults") or size, size)
    if len(rest) <= size:
        return rest, {}
    return rest[:size], {"nextToken": token_of(key(rest[size - 1]))}


def token_of(last: str) -> str:
    """For the page after the one that ends with this key."""
    return base64.urlsafe_b64encode(last.encode()).decode()


def position(token: str | None) -> str:
    """The key that the page before ended with; before all without a token."""
    if token is None:
        return ""
    try:
        return base64.urlsafe_b64decode(token).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise rules.MODEL_CONSTRAINT.broken(at="nextToken", must="Member must be a token") from None


# The nextToken of a search: opaque, of one request, and for a while.


def token_for(parameters: Parameters, start: int, *, clock: Clock, rule: rules.Rule) -> str:
    """For the page that begins at `start`; it lasts as many AWS seconds as the rule's value."""
    token = dumped([start, clock.after(rule.value), _digest(parameters)])
    return base64.urlsafe_b64encode(token.encode()).decode()


def start_of(parameters: Parameters, *, clock: Clock, rule: rules.Rule) -> int:
    """Where the asked page begins; raises the rule's error for a token that is not its own."""
    token = parameters.get("nextToken")
    if token is None:
        return 0
    try:
        start, until, digest = loaded(base64.urlsafe_b64decode(token).decode())
    except (binascii.Error, ValueError, TypeError):
        raise rule.broken() from None
    if digest != _digest(parameters) or until < clock.after(0):
        raise rule.broken()
    return int(start)


def _digest(parameters: Parameters) -> str:
    """Of the request that a page belongs to."""
    request = {name: parameters[name] for name in sorted(parameters) if name != "nextToken"}
    return hashlib.sha256(dumped(request).encode()).hexdigest()[:32]
