"""Being another by headers, queries, sessions, another way in, or another tool's name."""

import base64
import json
import time
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import jwt
from botocore.exceptions import ClientError
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from stackroom_local.clients import client
from stackroom_local.gateway.issuer import CLIENT_ID
from tests.campaigns.attack.naming import call, post, required, wide
from tests.campaigns.attack.oracle import Attempt, May
from tests.campaigns.attack.stage import GROUP, TOOLS, Stage
from tests.campaigns.attack.wire import Answer, Headers, a_call


def forged(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """Every forgery on a tool by chance, and every tool with a forgery by chance."""
    made = forgeries(stage)
    for name, token in made.items():
        for tool in chance.sample(sorted(TOOLS), 3):
            yield _presented(stage, name, token, tool)
    for tool in TOOLS:
        name = chance.choice(sorted(made))
        yield _presented(stage, name, made[name], tool)


def _presented(stage: Stage, name: str, token: str | None, tool: str) -> Attempt:
    given = required(stage, tool, stage.victim.catalog_id)
    return call(stage, "forged token", tool, name, given, token=token)


def forgeries(stage: Stage) -> Mapping[str, str | None]:
    issuer, now = stage.issuer, int(time.time())
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    good = _claims(stage)

    def signed(key: Any = issuer.private_key, kid: str = issuer.key_id, **changes: Any) -> str:
        claims = {name: value for name, value in {**good, **changes}.items() if value is not None}
        return jwt.encode(claims, key, algorithm="RS256", headers={"kid": kid})

    header, payload, signature = stage.token.split(".")
    victims = jwt.utils.base64url_encode(json.dumps(good).encode()).decode()
    by_others: dict[str, Callable[[], str | None]] = {
        "none": lambda: None,
        "alg none": lambda: jwt.encode(good, "", algorithm="none", headers={"kid": issuer.key_id}),
        "alg none, in capitals": lambda: _put_together({"alg": "NONE"}, good, b""),
        "HS256 with the public key": lambda: _symmetric(stage, good),
        "another key, our kid": lambda: signed(stranger),
        "another key, unknown kid": lambda: signed(stranger, "unknown"),
        "another key, a path as kid": lambda: signed(stranger, "../../dev/null"),
        "the key in the header": lambda: _bringing_its_key(stranger, good),
        "tampered payload": lambda: f"{header}.{victims}.{signature}",
        "no signature": lambda: f"{header}.{victims}.",
        "cut off": lambda: f"{header}.{payload}",
    }
    by_us: dict[str, dict[str, Any]] = {
        "another issuer": {"iss": "https://elsewhere.example"},
        "our issuer and a slash": {"iss": f"{issuer.url}/"},
        "expired": {"exp": now - 60},
        "without expiry": {"exp": None},
        "not yet valid": {"nbf": now + 3600},
        "an ID token": {"token_use": "id", "client_id": None, "aud": CLIENT_ID},
        "an ID token with a client": {"token_use": "id"},
        "another client": {"client_id": "another"},
        "no client": {"client_id": None},
        "no user": {"sub": None},
        "the client as user": {"sub": CLIENT_ID},
        "a user who is a path": {"sub": f"x/../{stage.victim.user}"},
        "a user in a list": {"sub": [stage.victim.user]},
        "a user with a line break": {"sub": f"{stage.victim.user}\n"},
        "no use": {"token_use": None},
        "another audience": {"aud": "elsewhere"},
        "groups in a text": {"cognito:groups": "admin"},
        "a session that is two headers": {"origin_jti": "s\r\nx-user-sub: x"},
    }
    made = {name: make() for name, make in by_others.items()}
    return {**made, **{name: signed(**changes) for name, changes in by_us.items()}}


def _claims(stage: Stage) -> dict[str, Any]:
    token = stage.issuer.mint(stage.victim.user)
    return dict(jwt.decode(token, options={"verify_signature": False}))


def _symmetric(stage: Stage, claims: Mapping[str, Any]) -> str:
    pem = stage.issuer.private_key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return _put_together({"alg": "HS256", "typ": "JWT", "kid": stage.issuer.key_id}, claims, pem)


def _put_together(header: Mapping[str, Any], claims: Mapping[str, Any], secret: bytes) -> str:
    """By hand, for PyJWT refuses to sign with a PEM."""
    parts = [jwt.utils.base64url_encode(json.dumps(each).encode()) for each in (header, claims)]
    signature = b""
    if secret:
        signature = jwt.get_algorithm_by_name("HS256").sign(b".".join(parts), secret)
    return b".".join([*parts, jwt.utils.base64url_encode(signature)]).decode()


def _bringing_its_key(key: rsa.RSAPrivateKey, claims: Mapping[str, Any]) -> str:
    public = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    headers = {"kid": "mine", "jwk": public, "jku": "https://elsewhere.example/jwks.json"}
    return jwt.encode(dict(claims), key, algorithm="RS256", headers=headers)


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
            told = ", ".join(f"{name}: {value[:40]!r}" for name, value in each)
            yield call(stage, "spoofed header", tool, told, given, may=may, headers=each)
        for query in (
            f"?x-user-sub={prey.user}",
            f"?user_id={prey.user}&session_id={prey.session}",
            f"?X-User-Sub={prey.user}&x-user-sub={prey.user}",
        ):
            yield call(stage, "spoofed query", tool, query, given, may=may, query=query)
        twice = (("Authorization", f"Bearer {stage.token}"),)
        yield call(stage, "spoofed header", tool, "a token twice", given, headers=twice)


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
        yield call(stage, "replayed session", tool, name, given, may=may, token=taken)


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
        yield call(
            stage,
            "stranger's group",
            "knowledge_base_retrieve",
            repr(groups),
            asked,
            may=May.ANSWER_OWN,
            token=token,
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
            yield post(stage, "batch", tool, name, json.dumps(batch).encode())


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
            yield call(stage, "another tool's name", tool, repr(name), given, target=name)


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
