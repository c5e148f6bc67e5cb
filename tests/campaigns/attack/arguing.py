"""Arguments that say whose they are: filters, metadata, and what no schema has."""

import json
from collections.abc import Iterator
from random import Random

from tests.campaigns.attack.naming import CONTENT, call, post, required, wide
from tests.campaigns.attack.oracle import Attempt, May
from tests.campaigns.attack.stage import GROUP, TOOLS, Stage


def filters(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """Yield filters; none may widen what is found, and most are malformed."""
    prey, own = stage.victim, stage.attacker
    equal = {"key": "user_id", "value": prey.user}
    unequal = {"key": "user_id", "value": own.user}
    asked: list[object] = [
        {spelling: prey.user}
        for spelling in (
            "user_id",
            " user_id",
            wide("user_id"),
            "uѕer_id",
            "metadata.user_id",
            "x-amz-bedrock-kb-user_id",
        )
    ]
    asked += [
        {"catalog_id": prey.catalog_id},
        {"filename": prey.filename},
        {"x-amz-bedrock-kb-source-uri": f"s3://{stage.instance.bucket}/{prey.key}"},
        {"user_id": [prey.user, own.user]},
        {"equals": equal},
        {"notIn": {"key": "absent", "value": ["x"]}},
        {"orAll": [{"equals": equal}, {"notEquals": unequal}]},
        {"stringContains": {"key": "user_id", "value": ""}},
        {"domain": {"notEquals": "x"}},
        {"domain": None},
        [{"equals": equal}],
        json.dumps({"equals": equal}),
        json.dumps({"user_id": prey.user}),
        json.dumps([{"name": "user_id", "value": prey.user}]),
        {"domain": "x", "or": {"user_id": prey.user}},
        {"allowed_groups": [GROUP, own.user]},
        {"listContains": {"key": "allowed_groups", "value": GROUP}},
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
        "x-amz-bedrock-kb-source-uri": f"s3://{stage.instance.bucket}/{prey.key}",
    }
    for reserved, value in values.items():
        for spelling in (
            reserved,
            reserved.upper(),
            wide(reserved),
            reserved.replace("i", "і").replace("a", "а"),
            f"list-{reserved}",
            f"x-amz-meta-kb-{reserved}",
            f"{reserved}\r\nx-amz-meta-kb-{reserved}",
        ):
            yield _labelled(stage, f"{spelling!r}: {value!r}"[:70], {spelling: value})
    both: tuple[object, ...] = (
        {"user_id": [prey.user]},
        {"domain": f'x","user_id":"{prey.user}'},
        {"domain": f"=?utf-8?q?x=22=2C=22user=5Fid=22=3A=22{prey.user}?="},
        {"domain": {"user_id": prey.user}},
        {"domain": "x\r\nx-amz-meta-kb-user_id: " + prey.user},
        {"allowed_groups": [prey.user, "*"]},
        json.dumps({"user_id": prey.user}),
    )
    for metadata in both:
        yield _labelled(stage, json.dumps(metadata)[:70], metadata)


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
    """
    Yield arguments that no schema has, in any spelling, and arguments given twice; all are refused.
    """
    prey, own = stage.victim, stage.attacker
    extras: dict[str, object] = {
        "user_id": prey.user,
        "session_id": prey.session,
        "context": {"client_context": {"custom": {"x-user-sub": prey.user}}},
        "invocation_state": {"user_id": prey.user},
        "caller": {"user_id": prey.user, "groups": [], "session_id": prey.session},
        "_meta": {"x-user-sub": prey.user},
        "arguments": {"catalog_id": prey.catalog_id},
        wide("catalog_id"): prey.catalog_id,
        "catalog_id ": prey.catalog_id,
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
            "the foreign one last": f'{{"catalog_id": {first}, "catalog_id": {then}{rest}}}',
            "the own one last": f'{{"catalog_id": {then}, "catalog_id": {first}{rest}}}',
            "once escaped": f'{{"catalog_id": {first}, "catalog\\u005fid": {then}{rest}}}',
        }
        for name, written in bodies.items():
            body = (
                '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": '
                f'{{"name": "{target}", "arguments": {written}}}}}'
            )
            yield post(stage, "duplicate key", tool, name, body.encode(), may=May.ANSWER_OWN)
