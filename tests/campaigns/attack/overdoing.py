"""Calls in every encoding, and good tokens of users who are nearly the victim."""

import gzip
import json
from collections.abc import Iterator
from random import Random

from tests.campaigns.attack.naming import call, post, required, wide
from tests.campaigns.attack.oracle import Attempt, May
from tests.campaigns.attack.stage import TOOLS, Stage
from tests.campaigns.attack.wire import a_call


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
