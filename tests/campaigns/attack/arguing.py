"""Arguments that say whose they are: filters, metadata, and what no schema has."""

import json
from collections.abc import Iterator
from random import Random

from tests.campaigns.attack import bad_input
from tests.campaigns.attack.naming import CONTENT, call, post, required, wide
from tests.campaigns.attack.oracle import Attempt, May
from tests.campaigns.attack.stage import GROUP, TOOLS, Stage


def filters(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """None may widen what is found; most have no meaning at all."""
    prey, own = stage.victim, stage.attacker
    equal = {"key": "user_id", "value": prey.user}
    unequal = {"key": "user_id", "value": own.user}
    asked: list[object] = [
        {spelling: prey.user}
        for spelling in (
            "user_id",
            "USER_ID",
            " user_id",
            "user_id\t",
            "user_id\0",
            "User_Id",
            wide("user_id"),
            "uѕer_id",
            "user\u200b_id",
            "user%5fid",
            "metadata.user_id",
            "metadataAttributes.user_id",
            "userId",
            "ﬀuser_id",
            "USER_ıD",
            "user_id\u0301",
            "x-amz-bedrock-kb-user_id",
        )
    ]
    asked += [
        {"catalog_id": prey.catalog_id},
        {"CATALOG_ID ": prey.catalog_id},
        {"document_id": prey.document_id},
        {"filename": prey.filename},
        {"x-amz-bedrock-kb-source-uri": f"s3://{stage.instance.bucket}/{prey.key}"},
        {"X-AMZ-Bedrock-kb-data-source-id": "DS"},
        {"user_id": [prey.user, own.user]},
        {"equals": equal},
        {"notEquals": unequal},
        {"notIn": {"key": "user_id", "value": [own.user]}},
        {"notEquals": {"key": "absent", "value": "x"}},
        {"notIn": {"key": "absent", "value": ["x"]}},
        {"orAll": [{"equals": equal}, {"notEquals": unequal}]},
        {"andAll": [{"notIn": unequal}]},
        {"startsWith": {"key": "user_id", "value": prey.user[:1]}},
        {"listContains": equal},
        {"stringContains": {"key": "user_id", "value": ""}},
        {"$or": [{"user_id": prey.user}]},
        {"$ne": {"user_id": own.user}},
        {"domain": {"notEquals": "x"}},
        {"domain": {"not_equals": "x"}},
        {"domain": [{"notIn": ["x"]}]},
        {"domain": [["x"]]},
        {"domain": None},
        {"": prey.user},
        {"a": 1, "b": 2, "c": 3, "user_id": prey.user},
        [{"equals": equal}],
        json.dumps({"equals": equal}),
        f"user_id = '{prey.user}'",
        {"domain": "x", "or": {"user_id": prey.user}},
        {"allowed_groups": GROUP},
        {"allowed_groups": [GROUP, stage.attacker.user]},
        {"listContains": {"key": "allowed_groups", "value": GROUP}},
        {"a": "x" * 3000},
    ]
    for filter_ in asked:
        arguments = {"query": "what opens the vault of the marmots?", "filter": filter_}
        name = json.dumps(filter_)[:80]
        yield call(stage, "filter", "knowledge_base_retrieve", name, arguments, may=May.ANSWER_OWN)


def labels(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """Metadata of the upload tool, for the sidecar that says whose a document is."""
    prey = stage.victim
    values = {
        "user_id": prey.user,
        "catalog_id": stage.known_id,
        "document_id": prey.document_id,
        "filename": prey.filename,
        "uploaded_at": "1970-01-01T00:00:00Z",
        "x-amz-bedrock-kb-source-uri": f"s3://{stage.instance.bucket}/{prey.key}",
    }
    for reserved, value in values.items():
        for spelling in (
            reserved,
            reserved.upper(),
            f" {reserved}",
            f"{reserved}\0",
            wide(reserved),
            reserved.replace("i", "і").replace("a", "а"),
            f"kb-{reserved}",
            f"list-{reserved}",
            f"x-amz-meta-kb-{reserved}",
            f"{reserved}\r\nx-amz-meta-kb-{reserved}",
        ):
            for given in (value, [value]):
                yield _labelled(stage, f"{spelling!r}: {given!r}"[:70], {spelling: given})
    both: tuple[object, ...] = (
        {"domain": f'x","user_id":"{prey.user}'},
        {"domain": f"=?utf-8?q?x=22=2C=22user=5Fid=22=3A=22{prey.user}?="},
        {"domain": {"user_id": prey.user}},
        {"metadataAttributes": {"user_id": prey.user}},
        {"metadataattributes": prey.user},
        [["user_id", prey.user]],
        f'{{"user_id": "{prey.user}"}}',
        {"domain": "x\r\nx-amz-meta-kb-user_id: " + prey.user},
        {f"a{number}": "x" for number in range(40)},
        {"domain": "x" * 1100},
        {"allowed_groups": [prey.user, "*"]},
    )
    for metadata in both:
        yield _labelled(stage, json.dumps(metadata)[:70], metadata)


def mistaken(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """Arguments that are merely wrong; that each is named, tests/functions says."""
    known: dict[str, object] = {
        "catalog_id": stage.attacker.catalog_id,
        "document_id": stage.attacker.document_id,
        "query": "what is the weather?",
        "filename": "mistaken.txt",
        "file_content": CONTENT,
        "catalog_name": "Mistaken",
        "confirm": True,
    }
    for tool in TOOLS:
        properties = bad_input.DEFINITIONS[tool]["inputSchema"]["properties"]
        good = {name: value for name, value in known.items() if name in properties}
        for bad in bad_input.cases(tool, good):
            yield call(stage, "bad input", tool, f"{bad.argument}: {bad.what}", bad.arguments)


def _labelled(stage: Stage, name: str, metadata: object) -> Attempt:
    arguments = {
        "catalog_id": stage.attacker.catalog_id,
        "filename": "own.txt",
        "file_content": CONTENT,
        "replace": True,
        "metadata": metadata,
    }
    return call(stage, "metadata", "upload_to_catalog", name, arguments, may=May.ANSWER_OWN)


def smuggled(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """What no schema has is refused, however it is spelled; of what is said twice, neither wins."""
    prey, own = stage.victim, stage.attacker
    claims = {"sub": prey.user, "origin_jti": prey.session}
    extras: dict[str, object] = {
        "user_id": prey.user,
        "userId": prey.user,
        "x-user-sub": prey.user,
        "session_id": prey.session,
        "x-session-id": prey.session,
        "tool_context": {"invocation_state": {"user_id": prey.user}},
        "context": {"client_context": {"custom": {"x-user-sub": prey.user}}},
        "invocation_state": {"user_id": prey.user},
        "caller": {"user_id": prey.user, "groups": [], "session_id": prey.session},
        "headers": {"x-user-sub": prey.user},
        "claims": claims,
        "_meta": {"x-user-sub": prey.user},
        "__proto__": {"user_id": prey.user},
        "__class__": "Caller",
        "model_config": {"extra": "allow"},
        "arguments": {"catalog_id": prey.catalog_id},
        wide("catalog_id"): prey.catalog_id,
        "catalog_іd": prey.catalog_id,
        "catalog_id ": prey.catalog_id,
        "catalog_id\0": prey.catalog_id,
        "CATALOG_ID": prey.catalog_id,
        "knowledge_base_ids": ["*"],
    }
    for tool, target in TOOLS.items():
        given = required(stage, tool, own.catalog_id)
        if tool == "delete_catalog":
            given = {**given, "confirm": False}
        if tool == "download_from_catalog":
            given = {**given, "document_id": own.document_id}
        for name, value in extras.items():
            yield call(stage, "smuggled argument", tool, repr(name), {**given, name: value})
        if "catalog_id" not in given:
            continue
        first, then = json.dumps(own.catalog_id), json.dumps(prey.catalog_id)
        rest = json.dumps({k: v for k, v in given.items() if k != "catalog_id"})[1:-1]
        rest = f", {rest}" if rest else ""
        bodies = {
            "twice, the foreign one last": f'{{"catalog_id": {first}, "catalog_id": {then}{rest}}}',
            "twice, the own one last": f'{{"catalog_id": {then}, "catalog_id": {first}{rest}}}',
            "twice, once escaped": f'{{"catalog_id": {first}, "catalog\\u005fid": {then}{rest}}}',
        }
        for name, written in bodies.items():
            body = _call_of(target, written)
            yield post(stage, "duplicate key", tool, name, body.encode(), may=May.ANSWER_OWN)
        twice = f'{{"arguments": {{"catalog_id": {then}{rest}}}'
        body = _call_of(target, f'{{"catalog_id": {first}{rest}}}')
        body = body.replace('{"name"', f'{twice[:-1]}}}, "name"')
        name = "arguments twice"
        yield post(stage, "duplicate key", tool, name, body.encode(), may=May.ANSWER_OWN)


def _call_of(target: str, arguments: str) -> str:
    return (
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": '
        f'{{"name": "{target}", "arguments": {arguments}}}}}'
    )
