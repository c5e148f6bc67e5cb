"""The nextToken of a search: opaque, of one request, and for a while."""

import base64
import binascii
import hashlib

from bedrock_kb_simulator.clock import Clock
from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.rules import Rule
from bedrock_kb_simulator.store import dumped, loaded


def token_for(parameters: Parameters, start: int, *, clock: Clock, rule: Rule) -> str:
    """For the page that begins at `start`; it lasts as many AWS seconds as the rule's value."""
    token = dumped([start, clock.after(rule.value), _digest(parameters)])
    return base64.urlsafe_b64encode(token.encode()).decode()


def start_of(parameters: Parameters, *, clock: Clock, rule: Rule) -> int:
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
