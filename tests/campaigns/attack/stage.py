"""
A victim whose every secret is marked, and an attacker who has a catalog and a document, too.

Ids are known to the attacker, for nothing may depend on their being secret, and so are some names:
these are what is planted in the attacker's own names and texts, where it may be read again.
"""

import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import httpx2
from boto3.session import Session
from botocore.config import Config

from functions.tool_targets import TARGETS
from stackroom.aws.dynamodb.items import Item, query, to_item
from stackroom.model.keys import catalog_id_of, document_id_of, is_ours
from stackroom.model.records import DocumentStatus
from stackroom_cli.callers import issuer_of
from stackroom_local.deployment.user_keys import UserKeys
from stackroom_local.gateway.issuer import Issuer
from stackroom_local.state import REGION, Instance
from tests.campaigns.attack.wire import Answer, Wire
from tests.campaigns.permissions.scenes import MODEL, Pages, signed_in
from tests.e2e.people import Person, eventually

TOOLS = {tool.name: f"{target}___{tool.name}" for target in TARGETS for tool in TARGETS[target]}

KNOWN = "Pantry"
GROUP = "marmot-keepers"  # whose members may find one of the victim's documents; no attacker is one
_FILE = "plan.txt"
SHARED_FILE = "für-keepers.txt"
_FOR_KEEPERS = {"kb-list-allowed_groups": GROUP}


@dataclass(frozen=True)
class Party:
    """`catalog` and `filename` are of what is searchable; `session` is of their sign-in."""

    person: Person
    catalog: str
    session: str
    filename: str

    @property
    def user(self) -> str:
        return self.person.name

    @property
    def catalog_id(self) -> str:
        return catalog_id_of(self.user, self.catalog)

    @property
    def document_id(self) -> str:
        return document_id_of(self.catalog_id, self.filename)

    @property
    def key(self) -> str:
        return f"{self.user}/{self.catalog}/{self.filename}"


@dataclass(frozen=True)
class Conversation:
    """An agent's conversation with one question, by their ids."""

    agent: str
    chat: str
    run: str


@dataclass(frozen=True)
class Stage:
    """`pages` are the attacker's, at the console; `prey` and `own` are conversations there."""

    instance: Instance
    wire: Wire
    victim: Party
    attacker: Party
    secrets: frozenset[str]
    hidden: str
    prey: Conversation
    own: Conversation
    pages: Pages
    issuer: Issuer = field(repr=False)

    @cached_property
    def token(self) -> str:
        """The attacker's own, which is good."""
        return self.issuer.mint(self.attacker.user, session=self.attacker.session)

    @cached_property
    def victims_token(self) -> str:
        return self.issuer.mint(self.victim.user, session=self.victim.session)

    @property
    def hidden_id(self) -> str:
        """The id of a catalog of the victim's with a marked name and no documents."""
        return catalog_id_of(self.victim.user, self.hidden)

    @property
    def known_id(self) -> str:
        """The id of a catalog of the victim's that an attacker's own names may repeat."""
        return catalog_id_of(self.victim.user, KNOWN)

    def list_own(self) -> Answer:
        """The attacker's documents, as the tool lists them."""
        given = {"catalog_id": self.attacker.catalog_id}
        return self.wire.call(TOOLS["list_catalog_documents"], given, token=self.token)

    def clients(self, service: str) -> Any:
        """Return a client with the attacker's own keys, for the attacker's own prefix."""
        keys = UserKeys(self.instance).of(self.attacker.user)
        session = Session(
            aws_access_key_id=keys.access_key_id,
            aws_secret_access_key=keys.secret_access_key,
            region_name=REGION,
        )
        return session.client(  # type: ignore[call-overload]
            service,
            endpoint_url=self.instance.aws_endpoint,
            config=Config(retries={"total_max_attempts": 1}),
        )

    def state(self) -> Mapping[str, object]:
        """All that is the victim's, to be compared: records, objects, selections, what is found."""
        victim, dynamodb = self.victim, self.instance.client("dynamodb")
        catalogs = self.instance.catalog_table
        partitions = [victim.catalog_id, self.hidden_id, self.known_id, f"REJECTED#{victim.user}"]
        found = self.wire.call(
            TOOLS["knowledge_base_retrieve"],
            {"query": "what opens the vault of the marmots?", "top_k": 20},
            token=self.victims_token,
        ).tool()
        listed = self.wire.call(TOOLS["list_catalogs"], {}, token=self.victims_token).tool()
        assert found is not None, "the victim may search"
        assert found["success"], found
        return {
            "records": {
                each: _items(dynamodb, catalogs, "catalog_id", each) for each in partitions
            },
            "selections": _items(
                dynamodb, self.instance.control_table, "pk", f"SELECTION#{victim.user}"
            ),
            "feedback": _items(
                dynamodb, self.instance.control_table, "pk", f"FEEDBACK#{victim.user}"
            ),
            "events": _items(dynamodb, self.instance.control_table, "pk", f"EVENTS#{victim.user}"),
            **{
                each: _items(dynamodb, self.instance.control_table, "pk", f"{each}#{victim.user}")
                for each in ("AGENTS", "AGENT_CHATS", "AGENT_RUNS")
            },
            "versions": sorted(self._versions(f"{victim.user}/")),
            "found": [(each["content"], each["source"]) for each in found["results"]],
            "listed": listed,
        }

    def attackers_catalogs(self) -> set[str]:
        told = self.wire.call(TOOLS["list_catalogs"], {}, token=self.token).tool()
        assert told is not None, "the attacker may list catalogs"
        return {each["catalog_id"] for each in told["metadata"]["catalogs"]}

    def attackers_objects(self) -> set[str]:
        """Keys of what the attacker has put; Stackroom's own objects are none."""
        pages = self.instance.client("s3").get_paginator("list_objects_v2")
        found = pages.paginate(Bucket=self.instance.bucket, Prefix=f"{self.attacker.user}/")
        keys = {each["Key"] for page in found for each in page.get("Contents", [])}
        return {each for each in keys if not is_ours(each)}

    def is_settled(self) -> bool:
        """Return whether every document of the attacker's is searchable or never will be."""
        records = self.attacker.person.records()
        over = (DocumentStatus.INDEXED, DocumentStatus.FAILED)
        keys = self.attackers_objects()
        return all(key in records and records[key].status in over for key in keys)

    def _versions(self, prefix: str) -> Iterator[tuple[str, ...]]:
        pages = self.instance.client("s3").get_paginator("list_object_versions")
        for page in pages.paginate(Bucket=self.instance.bucket, Prefix=prefix):
            for kind in ("Versions", "DeleteMarkers"):
                for each in page.get(kind, []):
                    tag = str(each.get("ETag", "deleted"))
                    yield (each["Key"], each["VersionId"], tag, str(each["IsLatest"]))


@contextmanager
def staged(
    instance: Instance, seed: int, *, victim: tuple[str, str], attacker: tuple[str, str]
) -> Iterator[Stage]:
    """Each a user and the name of a catalog, which need not be there; both are tidied up."""
    chance = random.Random(seed)

    def mark(kind: str) -> str:
        return f"{kind}{chance.getrandbits(48):012x}q"

    text, other, shared = map(mark, ("vault", "den", "shared"))
    name, described, value, lair = map(mark, ("Hoard", "about", "domain", "lair"))
    secret_file, shared_file = f"{lair}.md", SHARED_FILE
    prey = Party(Person(instance, victim[0]), victim[1], mark("session"), _FILE)
    hunter = Party(Person(instance, attacker[0]), attacker[1], mark("session"), "own.txt")
    asked = mark("asked")
    issuer = issuer_of(instance)
    with (
        httpx2.Client(timeout=120) as http,
        signed_in(hunter.person) as pages,
        _conversing(instance, issuer.mint(prey.user), f"Where does the {asked} sleep?") as theirs,
        _conversing(instance, issuer.mint(hunter.user), "Where do marmots sleep?") as own,
    ):
        stage = Stage(
            instance=instance,
            wire=Wire(instance.mcp_url, http),
            victim=prey,
            attacker=hunter,
            secrets=frozenset(
                {text, other, shared, name, described, value, lair, asked}
                | {prey.session, prey.catalog_id}
                | {document_id_of(prey.catalog_id, secret_file), catalog_id_of(prey.user, name)}
            ),
            hidden=name,
            prey=theirs,
            own=own,
            pages=pages,
            issuer=issuer,
        )
        files = {
            _FILE: (f"The vault of the marmots opens to the word {text}.", {"kb-domain": value}),
            secret_file: (f"The marmots sleep in {other}.", {}),
            shared_file: (f"Keepers of marmots say {shared} at the vault.", _FOR_KEEPERS),
        }
        objects = stage.attackers_objects()
        _furnish(stage, files, described=described)
        _require_told(stage, name)
        _require_found(stage, text, by=stage.victims_token)
        _require_found(stage, shared, by=stage.issuer.mint("keeper", groups=[GROUP]))
        # Those that have documents stay: other tests of the same local mode may use them.
        catalogs = stage.attackers_catalogs()
        try:
            yield stage
        finally:
            for catalog_id in stage.attackers_catalogs() - catalogs:
                _require(stage, "delete_catalog", _confirmed(catalog_id), token=stage.token)
            for catalog_id in (stage.hidden_id, stage.known_id):
                _require(stage, "delete_catalog", _confirmed(catalog_id))
            for path in files:
                prey.person.remove(f"{prey.catalog}/{path}")
            for key in stage.attackers_objects() - objects:
                hunter.person.remove(key.partition("/")[2])


@contextmanager
def _conversing(instance: Instance, token: str, message: str) -> Iterator[Conversation]:
    """Open a conversation with a new agent, and wait for its answer."""
    with httpx2.Client(
        base_url=str(instance.console_url),
        headers={"Authorization": f"Bearer {token}"},
        timeout=120,
    ) as http:

        def call(method: str, path: str, body: object = None) -> Any:
            answer = http.request(method, path, json=body)
            assert answer.is_success, (path, answer.text)
            return answer.json()["data"]

        made = call("POST", "/api/agents", {"name": "Keeper", "model": MODEL})["agent"]["id"]
        asked = {"message": message, "conversationId": "new"}
        run = call("POST", f"/api/agents/{made}/runs", asked)["run"]
        over = {"succeeded", "failed"}
        eventually(
            lambda: call("GET", f"/api/runs/{run['id']}")["run"]["state"] in over, "it is answered"
        )
        yield Conversation(made, run["conversationId"], run["id"])
        call("DELETE", f"/api/agents/{made}")


def _furnish(
    stage: Stage, files: Mapping[str, tuple[str, Mapping[str, str]]], *, described: str
) -> None:
    """The victim's files, catalogs and selection, and the attacker's one file; then all rests."""
    prey, hunter = stage.victim, stage.attacker
    prey.person.settle(
        [
            prey.person.put(f"{prey.catalog}/{name}", body, attributes)
            for name, (body, attributes) in files.items()
        ]
    )
    weather = "The weather is marmot grey."
    hunter.person.settle([hunter.person.put(f"{hunter.catalog}/{hunter.filename}", weather)])
    for name in (stage.hidden, KNOWN):
        made = {"catalog_name": name, "description": described}
        _require(stage, "create_catalog", made)
    _require(stage, "select_catalog", {"catalog_id": prey.catalog_id})
    said = {"question": "Where do marmots sleep?", "helpful": False, "note": described}
    _require(stage, "feedback", said)
    eventually(lambda: _is_at_rest(stage), "the victim's state is at rest")


def _require_told(stage: Stage, word: str) -> None:
    told = stage.wire.call(TOOLS["list_events"], {"limit": 100}, token=stage.victims_token)
    assert word in told.body, told


def _require_found(stage: Stage, word: str, *, by: str) -> None:
    """For what nobody finds can't leak either."""
    asked = {"query": "what is said of marmots at the vault?", "top_k": 20}
    told = stage.wire.call(TOOLS["knowledge_base_retrieve"], asked, token=by)
    assert word in told.body, told


def _confirmed(catalog_id: str) -> Mapping[str, object]:
    return {"catalog_id": catalog_id, "confirm": True}


def _require(
    stage: Stage, tool: str, arguments: Mapping[str, object], *, token: str | None = None
) -> None:
    answer = stage.wire.call(TOOLS[tool], arguments, token=token or stage.victims_token)
    told = answer.tool()
    assert told is not None, answer
    assert told["status"] == "success", told


def _is_at_rest(stage: Stage) -> bool:
    before = stage.state()
    time.sleep(0.5)
    return before == stage.state()


def _items(dynamodb: Any, table: str, key: str, value: str) -> list[Item]:
    return list(
        query(
            dynamodb,
            TableName=table,
            KeyConditionExpression="#key = :value",
            ExpressionAttributeNames={"#key": key},
            ExpressionAttributeValues=to_item({":value": value}),
            ConsistentRead=True,
        )
    )
