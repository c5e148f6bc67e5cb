"""Guardrails: creation, versions, validation, and ApplyGuardrail."""

from typing import Any

import pytest

from simulator.tests.holding import holds
from simulator.tests.world import TOPICS, World, guardrail_request, invalid, refused

HATE = {"type": "HATE", "inputStrength": "LOW", "outputStrength": "LOW"}
PROFANE = {"type": "PROFANITY"}
OFF = {"text": "heron", "inputEnabled": False}
REPORTS = {"text": "heron", "outputAction": "NONE"}
SALARIES = {"Salaries": TOPICS["Salaries"]}


@holds("guardrail.name-taken")
def test_guardrail_reads_back_as_created_and_its_name_is_unique(world: World) -> None:
    request = guardrail_request(words=["Project Heron"], topics=SALARIES)
    tags = [{"key": "team", "value": "legal"}]

    created = world.bedrock.create_guardrail(**request, description="For all.", tags=tags)
    twice = refused(world.bedrock.create_guardrail, **request)
    other = world.guardrail(words=["egret"])
    renamed = refused(world.bedrock.update_guardrail, guardrailIdentifier=other, **request)

    id_, arn = created["guardrailId"], created["guardrailArn"]
    found = world.bedrock.get_guardrail(guardrailIdentifier=arn)
    assert arn == f"arn:aws:bedrock:us-east-1:000000000000:guardrail/{id_}"
    assert created["version"] == "DRAFT"
    assert twice["Code"] == renamed["Code"] == "ConflictException"
    assert "already has this name" in twice["Message"]
    assert found.pop("createdAt") == created["createdAt"]
    assert found.pop("updatedAt")
    assert found.pop("ResponseMetadata")["HTTPStatusCode"] == 200
    topics = request["topicPolicyConfig"]["topicsConfig"]
    assert found == {
        "guardrailId": id_,
        "guardrailArn": arn,
        "name": request["name"],
        "description": "For all.",
        "version": "DRAFT",
        "status": "READY",
        "topicPolicy": {"topics": topics, "tier": {"tierName": "CLASSIC"}},
        "wordPolicy": {"words": [{"text": "Project Heron"}], "managedWordLists": []},
        "blockedInputMessaging": request["blockedInputMessaging"],
        "blockedOutputsMessaging": request["blockedOutputsMessaging"],
    }


@holds("guardrail.versions")
def test_guardrail_update_keeps_versions_and_deletion_removes_all(
    world: World,
) -> None:
    id_ = world.guardrail(words=["heron"], topics=SALARIES)
    make, named = world.bedrock.create_guardrail_version, {"guardrailIdentifier": id_}
    first = make(**named, description="Both.")
    words = guardrail_request(words=["egret"])

    world.bedrock.update_guardrail(**named, **words)

    second = make(**named)
    one, two, draft = (
        world.bedrock.get_guardrail(**named, **version)
        for version in ({"guardrailVersion": "1"}, {"guardrailVersion": "2"}, {})
    )
    world.bedrock.delete_guardrail(**named, guardrailVersion="2")
    third = make(**named)
    listed = world.bedrock.list_guardrails(**named)["guardrails"]
    world.bedrock.delete_guardrail(**named)
    assert [each["version"] for each in (first, second, third)] == ["1", "2", "3"]
    assert one["description"] == "Both."
    assert one["topicPolicy"]["topics"][0]["name"] == "Salaries"
    for changed in (two, draft):
        assert changed["wordPolicy"]["words"] == [{"text": "egret"}]
        assert "topicPolicy" not in changed
        assert changed["name"] == words["name"]
    assert [each["version"] for each in listed] == ["DRAFT", "1", "3"]
    for version in ({}, {"guardrailVersion": "1"}):
        error = refused(world.bedrock.get_guardrail, **named, **version)
        assert error["Code"] == "ResourceNotFoundException"


@holds("guardrail.empty", "request.not-simulated")
@pytest.mark.parametrize(
    ("policies", "message"),
    [
        ({}, "at least one policy"),
        ({"contentPolicyConfig": {"filtersConfig": [HATE]}}, "contentPolicyConfig"),
        ({"wordPolicyConfig": {"managedWordListsConfig": [PROFANE]}}, "managedWordListsConfig"),
        ({"wordPolicyConfig": {"wordsConfig": [{"text": "w" * 101}]}}, "wordsConfig"),
        ({"wordPolicyConfig": {"wordsConfig": [OFF]}}, "entries of guardrails that don't block"),
        ({"wordPolicyConfig": {"wordsConfig": [REPORTS]}}, "entries of guardrails that don't"),
    ],
)
def test_unsupported_guardrail_policy_is_refused_by_name(
    world: World, policies: dict[str, Any], message: str
) -> None:
    request = {**guardrail_request(), **policies}

    assert message in invalid(world.bedrock.create_guardrail, **request)


def applied(world: World, id_: str, text: str, **more: Any) -> dict[str, Any]:
    request = {
        "guardrailIdentifier": id_,
        "guardrailVersion": "DRAFT",
        "source": "INPUT",
        "content": [{"text": {"text": text}}],
    }
    answer: dict[str, Any] = world.bedrock_runtime.apply_guardrail(**{**request, **more})
    return answer


@holds("guardrail.words")
def test_blocked_words_match_whole_words_in_any_case(world: World) -> None:
    id_ = world.guardrail(words=["Project Heron", "C++"])
    blocked = ("PROJECT   Heron!", "(Project\nHeron)", "Ｐｒｏｊｅｃｔ heron")
    free = ("project heronry", "project, heron", "C is a language", "")

    actions = {text: applied(world, id_, text)["action"] for text in (*blocked, *free)}

    assert actions == {
        **dict.fromkeys(blocked, "GUARDRAIL_INTERVENED"),
        **dict.fromkeys(free, "NONE"),
    }


def test_apply_guardrail_reports_as_aws(world: World) -> None:
    id_ = world.guardrail(words=["heron", "egret"], topics=SALARIES)
    text = "What is the salary of the heron?"

    answer = applied(world, id_, text)
    passed = applied(world, id_, "Otters sleep.")

    [assessment] = answer["assessments"]
    assert answer["action"] == "GUARDRAIL_INTERVENED"
    assert answer["actionReason"] == "Guardrail blocked."
    assert answer["outputs"] == [{"text": "That question is not for this assistant."}]
    assert assessment["wordPolicy"]["customWords"] == [
        {"match": "heron", "action": "BLOCKED", "detected": True}
    ]
    assert assessment["topicPolicy"]["topics"] == [
        {"name": "Salaries", "type": "DENY", "action": "BLOCKED", "detected": True}
    ]
    assert assessment["appliedGuardrailDetails"]["guardrailId"] == id_
    assert (answer["usage"]["topicPolicyUnits"], answer["usage"]["wordPolicyUnits"]) == (1, 1)
    assert answer["guardrailCoverage"]["textCharacters"] == {"guarded": 32, "total": len(text)}
    assert (passed["action"], passed["actionReason"]) == ("NONE", "No action.")
    assert passed["outputs"] == []
    assert not {"wordPolicy", "topicPolicy"} & passed["assessments"][0].keys()


@holds("guardrail.unknown", "request.not-simulated")
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"guardrailVersion": "7"}, "ResourceNotFoundException"),
        ({"guardrailIdentifier": "none"}, "ResourceNotFoundException"),
        ({"content": [{"image": {"format": "png", "source": {"bytes": b"png"}}}]}, None),
        ({"content": [{"text": {"text": "A.", "qualifiers": ["grounding_source"]}}]}, None),
        ({"outputScope": "FULL"}, None),
    ],
)
def test_missing_or_inapplicable_guardrail_is_an_error(
    world: World, change: dict[str, Any], code: str | None
) -> None:
    id_ = world.guardrail(words=["a"])

    error = refused(lambda: applied(world, id_, "Otters.", **change))

    assert error["Code"] == (code or "ValidationException")
    assert code or "does not offer" in error["Message"]
