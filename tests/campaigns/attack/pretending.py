"""Being another by headers, queries, sessions, another way in, or another tool's name."""

import base64
import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from botocore.exceptions import ClientError

from stackroom_local.clients import client
from tests.campaigns.attack.attempt import Attempt, May
from tests.campaigns.attack.naming import required, wide
from tests.campaigns.attack.stage import GROUP, TOOLS, Stage
from tests.campaigns.attack.wire import Answer, Headers, a_call

SPOKEN_OF = ("list_catalogs", "knowledge_base_retrieve", "list_catalog_documents")


def spoofed(stage: Stage, chance: Random) -> Iterator[Attempt]:
    prey = stage.victim
    headers: tuple[Headers, ...] = (
        (("x-user-sub", prey.user),),
        (("X-User-Sub", prey.user), ("x-user-sub", prey.user)),
        (("X-USER-SUB", prey.user), ("X-User-Sub", stage.attacker.user)),
        (("x-user-sub", f"{stage.attacker.user}, {prey.user}"),),
        (("x_user_sub", prey.user),),
        (("x-user-sub", ""),),
        (("x-session-id", prey.session),),
        (("X-Session-Id", prey.session), ("x-session-id", prey.session)),
        (("x-user-groups", GROUP), ("x-user-sub", prey.user)),
        (("x-user-groups", GROUP),),
        (("X-User-Groups", GROUP), ("x-user-groups", GROUP)),
        (("x-amzn-bedrock-agentcore-runtime-custom-x-user-sub", prey.user),),
        (("x-amzn-oidc-identity", prey.user), ("x-forwarded-user", prey.user)),
        (("mcp-session-id", prey.session),),
        (("cookie", f"x-user-sub={prey.user}"),),
        (("x-amz-client-context", base64.b64encode(prey.user.encode()).decode()),),
        (("connection", "x-user-sub"), ("x-user-sub", prey.user)),
        (("x-original-url", f"/mcp?x-user-sub={prey.user}"),),
    )
    for tool in SPOKEN_OF:
        given = {} if tool != "list_catalog_documents" else {"catalog_id": prey.catalog_id}
        given |= {"query": "the vault of the marmots"} if "retrieve" in tool else {}
        may = May.BE_REFUSED if given.get("catalog_id") else May.ANSWER_OWN
        for each in headers:
            yield _with(stage, tool, given, may, headers=each)
        for query in (
            f"?x-user-sub={prey.user}",
            f"?user_id={prey.user}&session_id={prey.session}",
            f"?X-User-Sub={prey.user}&x-user-sub={prey.user}",
        ):
            yield _with(stage, tool, given, may, query=query)
        twice = (("Authorization", f"Bearer {stage.token}"),)
        yield _with(stage, tool, given, May.BE_REFUSED, headers=twice)


def _with(
    stage: Stage,
    tool: str,
    given: Mapping[str, object],
    may: May,
    *,
    headers: Headers = (),
    query: str = "",
) -> Attempt:
    return Attempt(
        kind="spoofed query" if query else "spoofed header",
        tool=tool,
        name=query or ", ".join(f"{name}: {value[:40]!r}" for name, value in headers),
        act=lambda: stage.wire.call(
            TOOLS[tool], given, token=stage.token, headers=headers, query=query
        ),
        may=may,
    )


def replayed(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """A session belongs to one user: with another's id, it is another session."""
    taken = stage.issuer.mint(stage.attacker.user, session=stage.victim.session)
    own = stage.attacker.catalog_id
    tries: dict[str, tuple[str, dict[str, object], May]] = {
        "selecting in it": ("select_catalog", {"catalog_id": own}, May.ANSWER_OWN),
        "deselecting in it": ("select_catalog", {"catalog_id": "none"}, May.ANSWER_OWN),
        "selecting another's": (
            "select_catalog",
            {"catalog_id": stage.victim.catalog_id},
            May.BE_REFUSED,
        ),
        "searching in it": ("knowledge_base_retrieve", {"query": "vault"}, May.ANSWER_OWN),
        "listing in it": ("list_catalogs", {}, May.ANSWER_OWN),
        # If anything is selected in it, then by an attempt before this one.
        "asking what is selected": (
            "query_catalog",
            {"query": "what opens the vault of the marmots?"},
            May.ANSWER_OWN,
        ),
    }
    for name, (tool, given, may) in tries.items():
        yield Attempt(
            kind="replayed session",
            tool=tool,
            name=name,
            act=lambda tool=tool, given=given: stage.wire.call(  # type: ignore[misc]
                TOOLS[tool], given, token=taken
            ),
            may=may,
        )


def strangers(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """Good tokens of the attacker's, in groups whose names are nearly that of the keepers."""
    asked = {"query": "what do keepers of marmots say at the vault?", "top_k": 20}
    for groups in (
        [],
        [GROUP.upper()],
        [f"{GROUP} "],
        [f"x,{GROUP}"],
        [f"{GROUP}%"],
        [GROUP.replace("-", "%2D")],
        [GROUP[:-1], "*", ""],
        [wide(GROUP)],
        [f"{GROUP}\0"],
        [f'x"]}},{{"listContains":{{"key":"allowed_groups","value":"{GROUP}'],
    ):
        token = stage.issuer.mint(stage.attacker.user, groups=groups)
        yield Attempt(
            kind="stranger's group",
            tool="knowledge_base_retrieve",
            name=repr(groups),
            act=lambda token=token: stage.wire.call(  # type: ignore[misc]
                TOOLS["knowledge_base_retrieve"], asked, token=token
            ),
            may=May.ANSWER_OWN,
        )


def batches(stage: Stage, chance: Random) -> Iterator[Attempt]:
    for tool, target in TOOLS.items():
        one = a_call(target, required(stage, tool, stage.victim.catalog_id))
        ping = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
        for name, batch in {
            "of one": [one],
            "behind a ping": [ping, one],
            "nested": [[one]],
        }.items():
            yield Attempt(
                kind="batch",
                tool=tool,
                name=name,
                act=lambda batch=batch: stage.wire.post(  # type: ignore[misc]
                    json.dumps(batch).encode(), token=stage.token
                ),
            )


def misnamed(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """Another tool's name through a target; methods and names that are nobody's."""
    for tool, target in TOOLS.items():
        owner = target.partition("___")[0]
        other = "knowledge" if owner == "catalogs" else "catalogs"
        given = required(stage, tool, stage.victim.catalog_id)
        for name in (
            f"{other}___{tool}",
            tool,
            f"___{tool}",
            f"{owner}____{tool}",
            f"{owner}___{owner}___{tool}",
            target.upper(),
            f"{target}\0",
            f" {target}",
            f"{owner}___../{other}___{tool}",
            f"{owner}\uff3f\uff3f\uff3f{tool}",
        ):
            yield Attempt(
                kind="another tool's name",
                tool=tool,
                name=repr(name),
                act=lambda name=name, given=given: stage.wire.call(  # type: ignore[misc]
                    name, given, token=stage.token
                ),
            )


def direct(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """Past the gateway: at the functions themselves, which must believe nobody there."""
    operator = client("lambda", stage.instance.aws_endpoint)
    functions = [
        each["FunctionName"]
        for each in operator.get_paginator("list_functions")
        .paginate()
        .build_full_result()["Functions"]
    ]
    forged = _context(stage, "catalogs___list_catalogs")
    own = stage.clients("lambda")
    for function in functions:
        yield _invoked(stage, own, function, name="with own keys", event={}, context=forged)
        yield _invoked(stage, own, function, name="with own keys, bare", event={}, context=None)
    for tool, target in TOOLS.items():
        [function] = [
            each
            for each in functions
            if each.endswith("catalog-tools" if target.startswith("catalogs") else "retrieve")
        ]
        given = required(stage, tool, stage.victim.catalog_id)
        custom: dict[str, Any] = {
            "no context": {},
            "identity as arguments": {},
            "a tool, and nobody": {"bedrockAgentCoreToolName": target},
            "two users": {
                "bedrockAgentCoreToolName": target,
                "bedrockAgentCorePropagatedHeaders": {
                    "x-user-sub": stage.attacker.user,
                    "X-User-Sub": stage.victim.user,
                },
            },
            "a user who is a path": {
                "bedrockAgentCoreToolName": target,
                "bedrockAgentCorePropagatedHeaders": {"x-user-sub": f"../{stage.victim.user}"},
            },
            "a user, but no tool": {
                "bedrockAgentCorePropagatedHeaders": {"x-user-sub": stage.victim.user},
            },
        }
        for name, each in custom.items():
            event = {**given, "x-user-sub": stage.victim.user} if "arguments" in name else given
            # With keys that may invoke anything: the function is its own last fence.
            yield _invoked(
                stage,
                operator,
                function,
                name=name,
                event=event,
                context={"custom": each},
                tool=tool,
            )


def _context(stage: Stage, tool: str) -> dict[str, Any]:
    return {
        "custom": {
            "bedrockAgentCoreToolName": tool,
            "bedrockAgentCorePropagatedHeaders": {"x-user-sub": stage.victim.user},
        }
    }


def _invoked(
    stage: Stage,
    aws_lambda: Any,
    function: str,
    *,
    name: str,
    event: object,
    context: object,
    tool: str = "",
) -> Attempt:
    encoded = base64.b64encode(json.dumps(context).encode()).decode()

    def act() -> Answer:
        try:
            answer = aws_lambda.invoke(
                FunctionName=function,
                Payload=json.dumps(event).encode(),
                **({} if context is None else {"ClientContext": encoded}),
            )
        except ClientError as error:
            return refused(error)
        told = answer["Payload"].read().decode()
        # As the gateway would wrap it, so that it is judged alike.
        wrapped = {"result": {"content": [{"type": "text", "text": told}]}}
        failed = str(answer.get("FunctionError", ""))
        return Answer(200, json.dumps(wrapped), failed, json.dumps([event, context]))

    return Attempt(kind="direct invocation", tool=tool or function, name=name, act=act)


def refused(error: ClientError) -> Answer:
    """An SDK's own words, which repeat the operation that its caller named, are left out."""
    status = error.response["ResponseMetadata"]["HTTPStatusCode"]
    return Answer(status, error.response["Error"].get("Code", ""), "", "")
