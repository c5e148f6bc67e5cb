"""
Scripts for models over HTTP, at a path that no AWS service has.

    GET     /_stackroom/scripts   those that were given, each with how many turns were spoken
    POST    /_stackroom/scripts   {"scripts": [{"model": "anthropic.claude-3-haiku-20240307-v1:0",
                                  "turns": [{"uses": [{"name": "search", "input": {"query":
                                  "{{question}}"}}]}, {"text": "Every {{hours}} hours.",
                                  "quotes": {"hours": "every (\\\\d+) hours"}}]}]}
    DELETE  /_stackroom/scripts   what GET says, and then none

How they are matched and what is replaced in them is said in `scripts`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from bedrock_kb_simulator import orders
from bedrock_kb_simulator.access_keys import AccessKey
from bedrock_kb_simulator.scripts import (
    PLACEHOLDER,
    QUESTION,
    Script,
    ScriptedTurn,
    ScriptedUse,
    Scripts,
)

PATH = "/_stackroom/scripts"

_STRICT = ConfigDict(frozen=True, extra="forbid")
_Filled = Annotated[str, Field(min_length=1)]


class UseOrder(BaseModel):
    model_config = _STRICT

    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]  # as AWS has tools' names
    input: dict[str, Any] = {}


class TurnOrder(BaseModel):
    model_config = _STRICT

    text: str = ""
    uses: Sequence[UseOrder] = ()
    quotes: Mapping[str, _Filled] = {}
    stop: Literal["", "max_tokens", "stop_sequence", "content_filtered"] = ""

    @model_validator(mode="after")
    def _can_be_spoken(self) -> "TurnOrder":
        if not self.text.strip() and not self.uses:
            raise ValueError("a turn has a text, or uses of tools")
        for pattern in self.quotes.values():
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"no regular expression: {pattern!r}: {error}") from None
        texts = json.dumps([self.text, *(use.input for use in self.uses)])
        named = set(PLACEHOLDER.findall(texts)) - {QUESTION, *self.quotes}
        if named:
            raise ValueError(f"quotes has no pattern for {', '.join(sorted(named))}")
        return self


class ScriptOrder(BaseModel):
    model_config = _STRICT

    model: _Filled
    turns: Annotated[Sequence[TurnOrder], Field(min_length=1)]
    where: str = ""

    def script(self) -> Script:
        turns = [
            ScriptedTurn(
                text=turn.text,
                uses=[ScriptedUse(name=use.name, input=use.input) for use in turn.uses],
                quotes=turn.quotes,
                stop=turn.stop,
            )
            for turn in self.turns
        ]
        return Script(model=self.model, turns=turns, where=self.where)


class Order(BaseModel):
    model_config = _STRICT

    scripts: Annotated[Sequence[ScriptOrder], Field(min_length=1)]


def order(endpoint: str, *scripts: Mapping[str, Any], key: AccessKey | None = None) -> None:
    """Give the simulator at `endpoint` these; raises urllib.error.HTTPError for what is none."""
    orders.send(endpoint + PATH, {"scripts": scripts}, key)


def served(scripts: Scripts, method: str, body: bytes) -> tuple[int, bytes]:
    """HTTP status and JSON."""

    def take(body: bytes) -> None:
        order = Order.model_validate_json(body)
        scripts.give(*(each.script() for each in order.scripts))

    book = orders.Book(report=lambda: _report(scripts), clear=scripts.clear, take=take)
    return orders.served(book, method, body)


def _report(scripts: Scripts) -> bytes:
    given = [
        {"model": script.model, "where": script.where, "turns": len(script.turns), "spoken": spoken}
        for script, spoken in scripts.given
    ]
    return json.dumps({"scripts": given}).encode()
