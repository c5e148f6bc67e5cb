"""Being another by headers, queries, sessions, or another way in."""

import base64
import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from botocore.exceptions import ClientError

from stackroom_local.gateway.issuer import CLIENT_ID
from tests.campaigns.attack.naming import call, required, wide
from tests.campaigns.attack.oracle import Attempt, May
from tests.campaigns.attack.stage import GROUP, TOOLS, Stage
from tests.campaigns.attack.wire import Answer, Headers
from tests.gateway.forgeries import resigned


def forged(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """On tools by chance; other forgeries are refused alike: tests/gateway/test_tokens.py."""
    prey, issuer = stage.victim.user, stage.issuer
    claims: dict[str, dict[str, Any]] = {
        "an ID token": {"token_use": "id", "client_id": None, "aud": CLIENT_ID},
        "no user": {"sub": None},
        "the client as user": {"sub": CLIENT_ID},
        "a user who is a path": {"sub": f"x/../{prey}"},
        "a user in a list": {"sub": [prey]},
        "a user with a line break": {"sub": f"{prey}\n"},
        "groups in a text": {"cognito:groups": "admin"},
        "a session that is two headers": {"origin_jti": "s\r\nx-user-sub: x"},
    }
    made: dict[str, str | None] = {
        "none": None,
        **{name: resigned(issuer, **{"sub": prey, **each}) for name, each in claims.items()},
    }
    for name, token in made.items():
        # What lists is refused for the token alone, whosever it claims to be.
        for tool in ("list_catalogs", *chance.sample(sorted(TOOLS), 3)):
            given = required(stage, tool, stage.victim.catalog_id)
            yield call(stage, "forged token", tool, name, given, token=token)


SPOKEN_OF = ("list_catalogs", "knowledge_base_retrieve", "list_catalog_documents")


def spoofed(stage: Stage, chance: Random) -> Iterator[Attempt]:
    prey = stage.victim
    headers: tuple[Headers, ...] = (
        (("x-user-sub", prey.user),),
        (("X-USER-SUB", prey.user), ("X-User-Sub", stage.attacker.user)),
        (("x-user-sub", f"{stage.attacker.user}, {prey.user}"),),
        (("x_user_sub", prey.user),),
        (("X-User-Groups", GROUP), ("x-user-groups", GROUP)),
        (("x-amzn-bedrock-agentcore-runtime-custom-x-user-sub", prey.user),),
        (("mcp-session-id", prey.session), ("cookie", f"x-user-sub={prey.user}")),
        (("x-amz-client-context", base64.b64encode(prey.user.encode()).decode()),),
        (("connection", "x-user-sub"), ("x-user-sub", prey.user)),
    )
    for tool in SPOKEN_OF:
        given = {} if tool != "list_catalog_documents" else {"catalog_id": prey.catalog_id}
        given |= {"query": "the vault of the marmots"} if "retrieve" in tool else {}
        may = May.BE_REFUSED if given.get("catalog_id") else May.ANSWER_OWN
        for each in headers:
            told = ", ".join(f"{name}: {value[:40]!r}" for name, value in each)
            yield call(stage, "spoofed header", tool, told, given, may=may, headers=each)
        query = f"?X-User-Sub={prey.user}&user_id={prey.user}&session_id={prey.session}"
        yield call(stage, "spoofed query", tool, query, given, may=may, query=query)
        twice = (("Authorization", f"Bearer {stage.token}"),)
        yield call(stage, "spoofed header", tool, "a token twice", given, headers=twice)


def replayed(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """A session belongs to one user: with another's id, it is another session."""
    taken = stage.issuer.mint(stage.attacker.user, session=stage.victim.session)
    own, theirs = stage.attacker.catalog_id, stage.victim.catalog_id
    # If anything is selected in it when query_catalog asks, then by an attempt before this one.
    tries: tuple[tuple[str, dict[str, object], May], ...] = (
        ("select_catalog", {"catalog_id": own}, May.ANSWER_OWN),
        ("select_catalog", {"catalog_id": "none"}, May.ANSWER_OWN),
        ("select_catalog", {"catalog_id": theirs}, May.BE_REFUSED),
        ("knowledge_base_retrieve", {"query": "vault"}, May.ANSWER_OWN),
        ("list_catalogs", {}, May.ANSWER_OWN),
        ("query_catalog", {"query": "what opens the vault of the marmots?"}, May.ANSWER_OWN),
    )
    for tool, given, may in tries:
        yield call(stage, "replayed session", tool, repr(given), given, may=may, token=taken)


def strangers(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """Good tokens of the attacker's, in groups whose names are nearly that of the keepers."""
    asked = {"query": "what do keepers of marmots say at the vault?", "top_k": 20}
    for groups in (
        [],
        [GROUP.upper()],
        [f"x,{GROUP}"],
        [GROUP[:-1], "*", ""],
        [wide(GROUP)],
        [f'x"]}},{{"listContains":{{"key":"allowed_groups","value":"{GROUP}'],
    ):
        token, kind = stage.issuer.mint(stage.attacker.user, groups=groups), "stranger's group"
        tool, name = "knowledge_base_retrieve", repr(groups)
        yield call(stage, kind, tool, name, asked, may=May.ANSWER_OWN, token=token)


def direct(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """Past the gateway: at the functions themselves, which must believe nobody there."""
    operator, own = stage.instance.client("lambda"), stage.clients("lambda")
    pages = operator.get_paginator("list_functions").paginate()
    functions = [each["FunctionName"] for each in pages.build_full_result()["Functions"]]
    for function in functions:
        forged = _context("catalogs___list_catalogs", {"x-user-sub": stage.victim.user})
        yield _invoked(own, function, "with own keys", {}, forged, tool=function)
    prey = stage.victim.user
    for tool, target in TOOLS.items():
        ending = "catalog-tools" if target.startswith("catalogs") else "retrieve"
        [function] = [each for each in functions if each.endswith(ending)]
        given = required(stage, tool, stage.victim.catalog_id)
        two = {"x-user-sub": stage.attacker.user, "X-User-Sub": prey}
        # With keys that may invoke anything: the function is its own last fence.
        for name, event, context in (
            ("identity as arguments", {**given, "x-user-sub": prey}, {}),
            ("a tool, and nobody", given, _context(target, None)),
            ("two users", given, _context(target, two)),
            ("a user who is a path", given, _context(target, {"x-user-sub": f"../{prey}"})),
            ("a user, but no tool", given, _context(None, {"x-user-sub": prey})),
        ):
            yield _invoked(operator, function, name, event, context, tool=tool)


def _context(tool: str | None, headers: Mapping[str, str] | None) -> dict[str, Any]:
    told = {"bedrockAgentCoreToolName": tool, "bedrockAgentCorePropagatedHeaders": headers}
    return {name: value for name, value in told.items() if value is not None}


def _invoked(
    aws_lambda: Any, function: str, name: str, event: object, context: object, *, tool: str
) -> Attempt:
    told = json.dumps({"custom": context}).encode()

    def act() -> Answer:
        try:
            answer = aws_lambda.invoke(
                FunctionName=function,
                Payload=json.dumps(event).encode(),
                ClientContext=base64.b64encode(told).decode(),
            )
        except ClientError as error:
            return refused(error)
        # As the gateway would wrap it, so that it is judged alike.
        text = answer["Payload"].read().decode()
        wrapped = {"result": {"content": [{"type": "text", "text": text}]}}
        failed = str(answer.get("FunctionError", ""))
        return Answer(200, json.dumps(wrapped), failed, json.dumps([event, context]))

    return Attempt(kind="direct invocation", tool=tool, name=name, act=act)


def refused(error: ClientError) -> Answer:
    """An SDK's own words, which repeat the operation that its caller named, are left out."""
    status = error.response["ResponseMetadata"]["HTTPStatusCode"]
    return Answer(status, error.response["Error"].get("Code", ""), "", "")
