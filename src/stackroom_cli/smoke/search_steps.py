"""Smoke steps that check what the owner finds, and that another user does not find it."""

import base64
import json
import time
from collections.abc import Sequence
from typing import Any

from stackroom.access.identity import USER_HEADER
from stackroom.access.tenancy import Tenant
from stackroom.aws.bedrock.bedrock_adapter import BedrockKnowledgeBase
from stackroom.aws.bedrock.retrieve_options import RetrieveOptions
from stackroom.model.passages import Passage, Search
from stackroom.text.context_lines import without_context
from stackroom.tools.document_definitions import MAX_CONTENT_BYTES
from stackroom_cli.smoke.gateway_steps import post
from stackroom_cli.smoke.scene import (
    ANSWER,
    LONG,
    OF_LONG,
    OF_TEXT,
    PAGES,
    QUESTION,
    TEXT,
    AssumptionVerdict,
    Finding,
    NotApplicable,
    Scene,
    SmokeUser,
    StepFailed,
    StepOutcome,
    pdf,
)
from stackroom_client.calls import SEARCH

_CONTENT = "as-large-as-a-tool-takes.pdf"
_HIT_SECONDS = 60.0
_CLOSE = 0.02  # difference of similarities; Bedrock returns fewer digits


def check_owner_finds(scene: Scene) -> StepOutcome:
    answer = scene.until(
        lambda: _first_hit(scene), "the owner's question finds the answer", seconds=_HIT_SECONDS
    )
    scene.measured["dropped to the owner's answer"] = time.monotonic() - scene.began
    first, withheld = answer["results"][0], answer["metadata"].get("withheld_results", 0)
    where = f"{first['source']['filename']}, page {first['source']['page']}"
    if withheld or (first["source"]["filename"], first["source"]["page"]) != (PAGES, 2):
        raise StepFailed(f"the first passage is of {where}, and {withheld} are withheld")
    return StepOutcome(f"{where}, with nothing withheld")


def _first_hit(scene: Scene) -> dict[str, Any]:
    """Return the answer to the owner's question; empty if it is not found yet."""
    answer = _ask(scene.owner, QUESTION)
    return answer if any(ANSWER in each["content"] for each in answer["results"]) else {}


def check_stranger_finds_nothing(scene: Scene) -> StepOutcome:
    found = [*names_found(scene.other, QUESTION), *names_found(scene.other, OF_TEXT)]
    if foreign := {PAGES, TEXT}.intersection(found):
        raise StepFailed(f"another user finds {', '.join(sorted(foreign))}")
    call = {"name": SEARCH, "arguments": {"query": QUESTION, "min_score": 0}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    answer = post(
        scene, scene.other.token, json.dumps(request), **{USER_HEADER: scene.owner.user_id}
    )
    is_forged = ANSWER in answer.text
    seen = f"another user who forges {USER_HEADER} finds {'it' if is_forged else 'nothing'}"
    return StepOutcome(
        f"another user finds none of the unshared files; {seen}",
        (Finding.of("gateway.identity-headers", seen, holds=not is_forged),),
    )


def check_sharing(scene: Scene) -> StepOutcome:
    found = LONG in names_found(scene.other, OF_LONG)
    is_on = _setting(scene, "RETRIEVE_SHARING") == "on"
    if not is_on and found:
        raise StepFailed("another user finds the shared file although sharing is off")
    if not is_on:
        raise NotApplicable("sharing is off, and another user doesn't find the shared file")
    seen = f"a member of the group {'finds' if found else 'does not find'} the shared document"
    return StepOutcome(seen, (Finding.of("filter.list", seen, holds=found),))


def check_agreement(scene: Scene) -> StepOutcome:
    if scene.member.is_managed:
        raise NotApplicable("a managed knowledge base has no index to search beside Retrieve")
    answer = _ask(scene.owner, QUESTION, catalog_id=scene.catalog_id)
    by = str(answer["metadata"]["search"])
    retrieve = BedrockKnowledgeBase(
        scene.site.client("bedrock-agent-runtime"),
        scene.member.knowledge_base_id,
        options=RetrieveOptions(),
    )
    found = retrieve.retrieve(QUESTION, Tenant.of(scene.catalog).filter(), 20).passages
    if not found or ANSWER not in found[0].text or not answer["results"]:
        raise StepFailed("Retrieve's first passage lacks the answer, which the tool's has")
    notice = answer["metadata"].get("search_notices", "without a notice")
    seen = f"RETRIEVE_VIA is {_setting(scene, 'RETRIEVE_VIA')}, searched by {by}, {notice}"
    findings = (
        Finding.of("index.bedrock-text", seen, holds=Search.HYBRID in by)
        if _setting(scene, "RETRIEVE_VIA") == "s3vectors"
        else Finding("index.bedrock-text", AssumptionVerdict.NOT_SEEN, seen),
        _vector_finding(by, _similarity(answer["results"]), found[0].similarity),
        _text_finding(found[0]),
    )
    return StepOutcome(f"the tool ({by}) and Retrieve have the same passage first", findings)


def _text_finding(passage: Passage) -> Finding:
    if passage.sent_text_id is None:
        why = "Bedrock reads the files itself"
        return Finding("text.verbatim", AssumptionVerdict.NOT_SEEN, why)
    has_line = without_context(passage.text) != passage.text
    seen = f"the passage has {'its' if has_line else 'no'} context line"
    return Finding.of("text.verbatim", seen, holds=has_line)


def _vector_finding(by: str, tool_score: float | None, retrieve_score: float | None) -> Finding:
    if by != Search.HYBRID or tool_score is None or retrieve_score is None:
        return Finding(
            "embedding.same",
            AssumptionVerdict.NOT_SEEN,
            f"searched by {by}: the tool shows no cosine",
        )
    seen = f"similarities {tool_score:.3f} and, by Retrieve, {retrieve_score:.3f}"
    return Finding.of("embedding.same", seen, holds=abs(tool_score - retrieve_score) <= _CLOSE)


def _setting(scene: Scene, name: str) -> str | None:
    """Return an environment variable of the function that searches."""
    function = scene.site.client("lambda").get_function_configuration(
        FunctionName=f"{scene.site.project}-retrieve"
    )
    found: dict[str, str] = function["Environment"]["Variables"]
    return found.get(name)


def _similarity(results: Sequence[Any]) -> float | None:
    of_answer = (each["score"] for each in results if ANSWER in each["content"])
    found = next(of_answer, None)
    return None if found is None else float(found)


def check_largest_upload(scene: Scene) -> StepOutcome:
    """Upload a PDF of the largest size with little text, which costs nothing to embed."""
    most = MAX_CONTENT_BYTES // 3 * 3  # as base64 has no padding
    body = pdf("The pier of Quillhaven was repaired in 1902.", size=most)
    seen = f"{len(body) / 1024**2:.1f} MB, {len(body) * 4 // 3 / 1024**2:.1f} MB in base64"
    sent = {
        "catalog_id": scene.catalog_id,
        "filename": _CONTENT,
        "file_content": base64.b64encode(body).decode(),
    }
    try:
        answer = scene.owner.client.call("catalogs___upload_to_catalog", sent)
        if answer["status"] != "success":
            raise StepFailed(answer["content"][0]["text"])
    except Exception as error:  # any error means that the gateway did not let it through
        refused = Finding.of("gateway.request-size", f"{seen}: {error}", holds=False)
        return StepOutcome(f"{seen} does not go through", (refused,))
    key = f"{scene.catalog.s3_prefix}{_CONTENT}"
    stored = scene.site.client("s3").head_object(Bucket=scene.site.bucket, Key=key)
    if stored["ContentLength"] != len(body):
        raise StepFailed(f"the bucket has {stored['ContentLength']} of {len(body)} bytes")
    return StepOutcome(
        f"{seen} goes through", (Finding.of("gateway.request-size", seen, holds=True),)
    )


def _ask(person: SmokeUser, query: str, **arguments: Any) -> dict[str, Any]:
    """Search without a minimum score, so that a weak best passage is returned, too."""
    arguments = {"query": query, "min_score": 0, "top_k": 20, **arguments}
    answer: dict[str, Any] = person.client.call(SEARCH, arguments)
    if not answer["success"]:
        raise StepFailed(f"a question is answered {answer['errorType']}: {answer['error']}")
    return answer


def names_found(person: SmokeUser, query: str) -> list[str]:
    return [each["source"]["filename"] for each in _ask(person, query)["results"]]
