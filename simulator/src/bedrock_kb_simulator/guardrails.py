"""Guardrails: bedrock's Create-, Get-, List-, Update- and DeleteGuardrail, and their versions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.aws_clock import Clock
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.identifiers import Arns, ClientTokens, new_guardrail_id, page
from bedrock_kb_simulator.store import Row, Store, dumped, loaded, moment
from bedrock_kb_simulator.tagging import Tags

# The policies of a guardrail in requests and in responses.

# Policies that are not simulated, by their members in a request.
_NOT_SIMULATED = {
    "contentPolicyConfig": "content filters of guardrails (contentPolicyConfig)",
    "sensitiveInformationPolicyConfig": (
        "sensitive information filters of guardrails (sensitiveInformationPolicyConfig)"
    ),
    "contextualGroundingPolicyConfig": (
        "contextual grounding checks of guardrails (contextualGroundingPolicyConfig)"
    ),
    "automatedReasoningPolicyConfig": (
        "automated reasoning of guardrails (automatedReasoningPolicyConfig)"
    ),
    "crossRegionConfig": "guardrails across regions (crossRegionConfig)",
    "kmsKeyId": "guardrails under a key of one's own (kmsKeyId)",
}
# Members to store; an update that omits one clears it.
_STORED = (
    "description",
    "topicPolicyConfig",
    "wordPolicyConfig",
    "blockedInputMessaging",
    "blockedOutputsMessaging",
)


def checked_members(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members to store of CreateGuardrail or UpdateGuardrail; raises ServiceError."""
    for member, what in _NOT_SIMULATED.items():
        if request.get(member):
            raise rules.NOT_SIMULATED.broken(what=what)
    words, topics = request.get("wordPolicyConfig") or {}, request.get("topicPolicyConfig") or {}
    if words.get("managedWordListsConfig"):
        raise rules.NOT_SIMULATED.broken(what="word lists of AWS's own (managedWordListsConfig)")
    if (topics.get("tierConfig") or {}).get("tierName") == "STANDARD":
        raise rules.NOT_SIMULATED.broken(what="the tier STANDARD of denied topics")
    for entry in (*words_of(request), *topics_of(request)):
        for side in ("input", "output"):
            if entry.get(f"{side}Enabled") is False or entry.get(f"{side}Action") == "NONE":
                raise rules.NOT_SIMULATED.broken(what="entries of guardrails that don't block")
    if not words.get("wordsConfig") and not topics.get("topicsConfig"):
        raise rules.GUARDRAIL_EMPTY.broken()
    return {member: request[member] for member in _STORED if request.get(member) is not None}


def response_members(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of GetGuardrail, which names policies differently from requests."""
    answer = {name: value for name, value in members.items() if not name.endswith("Config")}
    if topics := topics_of(members):
        answer["topicPolicy"] = {"topics": topics, "tier": {"tierName": "CLASSIC"}}
    if words := words_of(members):
        answer["wordPolicy"] = {"words": words, "managedWordLists": []}
    return answer


def topics_of(members: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list((members.get("topicPolicyConfig") or {}).get("topicsConfig") or [])


def words_of(members: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list((members.get("wordPolicyConfig") or {}).get("wordsConfig") or [])


DRAFT = "DRAFT"


@dataclass(frozen=True, kw_only=True)
class Guardrails:
    """Guardrails, with a row for each version; the draft's `number` is the latest version's."""

    store: Store
    clock: Clock
    arns: Arns
    tokens: ClientTokens
    tags: Tags

    def create(self, parameters: Parameters) -> Parameters:
        token = parameters.get("clientRequestToken")
        with self.store.transaction():
            guardrail_id = self.tokens.resource_of("CreateGuardrail", token)
            if guardrail_id is None:
                members = checked_members(parameters)
                self._refuse_taken(parameters["name"])
                guardrail_id = new_guardrail_id()
                self._insert(guardrail_id, DRAFT, parameters["name"], members)
                self.tags.put(self.arns.guardrail(guardrail_id), parameters.get("tags"))
                self.tokens.remember("CreateGuardrail", token, guardrail_id)
        row = self._row(guardrail_id, DRAFT)
        return {**self._draft(row), "createdAt": moment(row["created_at"])}

    def get(self, parameters: Parameters) -> Parameters:
        row = self._row(
            parameters["guardrailIdentifier"], parameters.get("guardrailVersion") or DRAFT
        )
        summary = self._summary(row)
        names = {"guardrailId": summary.pop("id"), "guardrailArn": summary.pop("arn")}
        return {**names, **summary, **response_members(loaded(row["body"]))}

    def find(self, arn: str) -> None:
        """Raise ResourceNotFoundException unless a guardrail has this ARN."""
        if self.arns.guardrail(self._row(arn, DRAFT)["id"]) != arn:
            raise rules.NO_SUCH_RESOURCE.broken(what="Guardrail", id=arn)

    def list(self, parameters: Parameters) -> Parameters:
        """List the drafts of all guardrails, or every version of one."""
        identifier = parameters.get("guardrailIdentifier")
        if identifier:
            id_ = self._row(identifier, DRAFT)["id"]
            rows = self.store.rows("SELECT * FROM guardrails WHERE id = ?", id_)
        else:
            rows = self.store.rows("SELECT * FROM guardrails WHERE version = ?", DRAFT)
        rows.sort(key=_sort_key)
        found, more = page(rows, parameters, _sort_key, size=1000)
        return {"guardrails": [self._summary(row) for row in found], **more}

    def update(self, parameters: Parameters) -> Parameters:
        """Replace the draft and leave versions as they are: rule guardrail.versions."""
        with self.store.transaction():
            row = self._row(parameters["guardrailIdentifier"], DRAFT)
            members = checked_members(parameters)
            if parameters["name"] != row["name"]:
                self._refuse_taken(parameters["name"])
            now = self.clock.now().isoformat()
            changes = {"name": parameters["name"], "body": dumped(members), "updated_at": now}
            self.store.update("guardrails", changes, id=row["id"], version=DRAFT)
        row = self._row(row["id"], DRAFT)
        return {**self._draft(row), "updatedAt": moment(row["updated_at"])}

    def delete(self, parameters: Parameters) -> Parameters:
        """Delete one version, or the guardrail with all versions: rule guardrail.versions."""
        version = parameters.get("guardrailVersion")
        with self.store.transaction():
            row = self._row(parameters["guardrailIdentifier"], version or DRAFT)
            if version:
                self.store.write(
                    "DELETE FROM guardrails WHERE id = ? AND version = ?", row["id"], version
                )
            else:
                self.store.write("DELETE FROM guardrails WHERE id = ?", row["id"])
                self.tags.forget(self.arns.guardrail(row["id"]))
        return {}

    def create_version(self, parameters: Parameters) -> Parameters:
        """Store the current draft under the next number, with its own description."""
        token = parameters.get("clientRequestToken")
        with self.store.transaction():
            draft = self._row(parameters["guardrailIdentifier"], DRAFT)
            scope = f"CreateGuardrailVersion/{draft['id']}"
            version = self.tokens.resource_of(scope, token)
            if version is None:
                version = self._next_version(draft)
                described = {"description": parameters.get("description")}
                members = {**loaded(draft["body"]), **described}
                self._insert(draft["id"], version, draft["name"], members)
                self.tokens.remember(scope, token, version)
        return {"guardrailId": draft["id"], "version": version}

    def _next_version(self, draft: Row) -> str:
        """Return the next number: rule guardrail.versions."""
        number = int(draft["number"]) + 1
        self.store.update("guardrails", {"number": number}, id=draft["id"], version=DRAFT)
        return str(number)

    def _refuse_taken(self, name: str) -> None:
        taken = "SELECT 1 FROM guardrails WHERE name = ? AND version = ?"
        if self.store.row(taken, name, DRAFT):
            raise rules.GUARDRAIL_NAME_TAKEN.broken()

    def _insert(self, guardrail_id: str, version: str, name: str, members: dict[str, Any]) -> None:
        now = self.clock.now().isoformat()
        row = {"id": guardrail_id, "version": version, "name": name, "body": dumped(members)}
        self.store.insert("guardrails", {**row, "created_at": now, "updated_at": now})

    def _row(self, identifier: str, version: str) -> Row:
        row = guardrail(self.store, identifier, version)
        if row is None:
            raise rules.NO_SUCH_RESOURCE.broken(what="Guardrail", id=f"{identifier} ({version})")
        return row

    def _draft(self, row: Row) -> dict[str, Any]:
        arn = self.arns.guardrail(row["id"])
        return {"guardrailId": row["id"], "guardrailArn": arn, "version": DRAFT}

    def _summary(self, row: Row) -> dict[str, Any]:
        return {
            "id": row["id"],
            "arn": self.arns.guardrail(row["id"]),
            "name": row["name"],
            "version": row["version"],
            "status": "READY",
            "description": loaded(row["body"]).get("description"),
            "createdAt": moment(row["created_at"]),
            "updatedAt": moment(row["updated_at"]),
        }


def guardrail(store: Store, identifier: str, version: str) -> Row | None:
    """Return a version of a guardrail by id or ARN, or None."""
    id_ = identifier.rpartition("/")[2]
    return store.row("SELECT * FROM guardrails WHERE id = ? AND version = ?", id_, version)


def _sort_key(row: Row) -> str:
    """Return the sort key of a version: the draft first, then by number."""
    number = 0 if row["version"] == DRAFT else int(row["version"])
    return f"{row['id']}/{number:08}"
