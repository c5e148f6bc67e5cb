"""What a guardrail is told to block: the policies that are simulated, and how they read back."""

from collections.abc import Mapping
from typing import Any

from bedrock_kb_simulator.rules import GUARDRAIL_EMPTY, NOT_SIMULATED

# Each by the member of a request that asks for it.
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
# What a request sets is what a guardrail is; an update that leaves a member out clears it.
KEPT = (
    "description",
    "topicPolicyConfig",
    "wordPolicyConfig",
    "blockedInputMessaging",
    "blockedOutputsMessaging",
)


def checked(request: Mapping[str, Any]) -> dict[str, Any]:
    """The members to keep of a CreateGuardrail or UpdateGuardrail; raises ServiceError."""
    for member, what in _NOT_SIMULATED.items():
        if request.get(member):
            raise NOT_SIMULATED.broken(what=what)
    words, topics = request.get("wordPolicyConfig") or {}, request.get("topicPolicyConfig") or {}
    if words.get("managedWordListsConfig"):
        raise NOT_SIMULATED.broken(what="word lists of AWS's own (managedWordListsConfig)")
    if (topics.get("tierConfig") or {}).get("tierName") == "STANDARD":
        raise NOT_SIMULATED.broken(what="the tier STANDARD of denied topics")
    if not words.get("wordsConfig") and not topics.get("topicsConfig"):
        raise GUARDRAIL_EMPTY.broken()
    return {member: request[member] for member in KEPT if request.get(member) is not None}


def described(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The members of GetGuardrail, which names the policies otherwise than the requests do."""
    answer = {name: value for name, value in kept.items() if not name.endswith("Config")}
    if topics := topics_of(kept):
        answer["topicPolicy"] = {"topics": topics, "tier": {"tierName": "CLASSIC"}}
    if words := words_of(kept):
        answer["wordPolicy"] = {"words": words, "managedWordLists": []}
    return answer


def topics_of(kept: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list((kept.get("topicPolicyConfig") or {}).get("topicsConfig") or [])


def words_of(kept: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list((kept.get("wordPolicyConfig") or {}).get("wordsConfig") or [])
