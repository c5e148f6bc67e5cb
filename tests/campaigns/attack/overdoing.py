"""Too much of everything, in every encoding; and good tokens of users who are nearly the victim."""

import gzip
import json
from collections.abc import Iterator
from random import Random

from tests.campaigns.attack.naming import call, post, required, wide
from tests.campaigns.attack.oracle import Attempt, May
from tests.campaigns.attack.stage import TOOLS, Stage
from tests.campaigns.attack.wire import a_call

_LONG = "x" * 1_000_000


def excesses(stage: Stage, chance: Random) -> Iterator[Attempt]:
    own = stage.attacker
    nested: object = "x"
    for _ in range(150):
        nested = [nested]
    for tool in TOOLS:
        given = required(stage, tool, own.catalog_id)
        for name, value in {
            "a million characters": _LONG,
            "150 lists": nested,
            "100,000 entries": [0] * 100_000,
            "combining accents": "e" + "\u0301" * 50_000,
        }.items():
            yield call(stage, "excess", tool, f"{name}, unknown", {**given, "extra": value})
            for argument in given:
                if (tool, argument) == ("upload_to_catalog", "file_content"):
                    continue
                wrong = {**given, argument: value}
                yield call(stage, "excess", tool, f"{name}, as {argument}", wrong)
        yield call(stage, "excess", tool, "a name of a million", {**given, _LONG: 1})
        many = {**given, **dict.fromkeys(map(str, range(20_000)), 1)}
        yield call(stage, "excess", tool, "20,000 arguments", many)
    upload = required(stage, "upload_to_catalog", own.catalog_id) | {"filename": "much.txt"}
    for metadata in ({_LONG: "x"}, {"domain": ["x"] * 100_000}, {"domain": "é" * 900}):
        name = f"metadata {str(metadata)[:30]}"
        yield call(stage, "excess", "upload_to_catalog", name, {**upload, "metadata": metadata})
    for filter_ in ({_LONG: "x"}, {"a": [0] * 100_000}, {"a": nested}, {"a": 10**400}):
        name, given = f"filter {str(filter_)[:30]}", {"query": "weather", "filter": filter_}
        yield call(stage, "excess", "knowledge_base_retrieve", name, given, may=May.ANSWER_OWN)


def encodings(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """Yield encodings of a call for the victim's data; none may be checked and read differently."""
    for tool in ("list_catalog_documents", "download_from_catalog", "knowledge_base_retrieve"):
        message = a_call(TOOLS[tool], required(stage, tool, stage.victim.catalog_id))
        plain = json.dumps(message)
        for name, body, headers in (
            ("UTF-16", plain.encode("utf-16"), ()),
            ("UTF-7", plain.encode("utf-7"), (("Content-Type", "text/json; charset=utf-7"),)),
            ("gzip", gzip.compress(plain.encode()), (("Content-Encoding", "gzip"),)),
            ("another after it", f"{plain}{plain}".encode(), ()),
            ("a form", b"body=" + plain.encode(), (("Content-Type", "text/plain"),)),
            ("escapes", "".join(_escaped(plain)).encode(), ()),
            ("a notification", json.dumps({**message, "id": None}).encode(), ()),
            ("another method", json.dumps({**message, "method": "tools/Call"}).encode(), ()),
            ("a batch", json.dumps([message]).encode(), ()),
        ):
            yield post(stage, "encoding", tool, name, body, headers=headers)


def _escaped(text: str) -> Iterator[str]:
    """Each letter and digit within quotes by its number."""
    is_quoted = False
    for each in text:
        is_quoted ^= each == '"'
        yield f"\\u{ord(each):04x}" if is_quoted and each.isalnum() else each


def neighbours(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """Users whose ids are nearly the victim's, each with a good token."""
    user = stage.victim.user
    for near in (
        user.upper(),
        user[:-1],
        f"{user}0",
        f"{user}..",
        f"{user}+{stage.attacker.user}",
        wide(user),
        f"{user}/x",
        f"{user} ",
    ):
        token = stage.issuer.mint(near, session=stage.victim.session)
        for tool, may in (
            ("list_catalogs", May.ANSWER_OWN),
            ("list_catalog_documents", May.BE_REFUSED),
            ("download_from_catalog", May.BE_REFUSED),
            ("knowledge_base_retrieve", May.ANSWER_OWN),
            ("query_catalog", May.BE_REFUSED),
        ):
            given = required(stage, tool, stage.victim.catalog_id)
            if may is May.ANSWER_OWN:
                given.pop("catalog_id", None)
            yield call(stage, "neighbour", tool, repr(near), given, may=may, token=token)
