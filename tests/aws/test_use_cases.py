"""From a function's settings to its use cases, and what is said where a setting is wanting."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from functions.ingest.handler import IngestSettings
from functions.reconciler.handler import ReconcilerSettings
from functions.status_poller.handler import PollerSettings
from stackroom.app.function_settings import (
    AnswerSettings,
    CatalogToolsSettings,
    FittingSettings,
    Pool,
    RetrieveSettings,
    SearchSettings,
    SettingMissing,
    Settings,
)
from stackroom.aws.bedrock.bedrock_adapter import BedrockKnowledgeBase
from stackroom.aws.bedrock.guardrail import Guardrail
from stackroom.aws.s3vectors.index_presence import AT_ONCE, IndexPresence
from stackroom.aws.s3vectors.s3vectors_adapter import S3VectorsKnowledgeBase
from stackroom.search.wrappers import Paced, Reranked, TokenBucket
from stackroom_cli.sites.site_services import SiteUseCases
from tests.aws.stores import ENVIRONMENT
from tests.fakes import toy_store
from tests.fakes.knowledge_base import FakeKnowledgeBase

MEMBER = {"knowledge_base_id": "KB00000001", "data_source_id": "DSSHARED01"}
VARIABLES = {
    **ENVIRONMENT,
    "KB_POOL": json.dumps([MEMBER]),
    "STATE_MACHINE_ARN": "arn:aws:states:us-east-1:123456789012:stateMachine:ingest",
    "INSPECTIONS_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/inspections",
    "ANSWER_MODEL_ARN": "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0",
}
INDEX = "arn:aws:s3vectors:us-east-1:123456789012:bucket/vectors/index/passages"
GUARDED = {"GUARDRAIL_ID": "gr123", "GUARDRAIL_VERSION": "2"}


class Answers(AnswerSettings, FittingSettings, SearchSettings):
    """Settings of a function that answers questions."""

    kb_pool: Pool
    kb_catalog_table: str
    kb_control_table: str
    kb_docs_bucket: str


def use_cases(settings: type[Settings], *members: dict[str, str], **variables: str) -> SiteUseCases:
    """Over a pool of members that are the usual one but for what is said of them."""
    pool = json.dumps([{**MEMBER, **each} for each in members or ({},)])
    given = {**VARIABLES, "KB_POOL": pool, **variables}
    return SiteUseCases(settings=settings.from_env(given), client=lambda service: service)


def searched_by(settings: type[Settings], member: dict[str, str], **variables: str) -> Any:
    """Return the store that a function with these settings searches, without sharing and pacing."""
    made = use_cases(settings, member, **variables)
    return found_in(made.knowledge_base("KB00000001"))


@pytest.mark.parametrize(
    ("settings", "asked", "missing"),
    [
        (Answers, lambda made: made.runs, "STATE_MACHINE_ARN"),
        (RetrieveSettings, lambda made: made.answering, "ANSWER_MODEL_ARN"),
    ],
)
def test_a_use_case_without_its_setting_names_the_variable(
    settings: type[Settings], asked: Callable[[SiteUseCases], object], missing: str
) -> None:
    with pytest.raises(SettingMissing, match=f"{missing} is no variable of {settings.__name__}"):
        asked(use_cases(settings))


@pytest.mark.processes
def test_a_search_imports_nothing_of_the_ingestion() -> None:
    code = f"""
import sys
from functions.retrieve.handler import RetrieveSettings
from stackroom.app.search_builder import SearchBuilder
settings = RetrieveSettings.from_env({VARIABLES!r})
SearchBuilder(settings=settings, client=lambda service: service).retrieval
print(*(name for name in sys.modules if name.startswith("stackroom.")))
"""

    ran = subprocess.run([sys.executable, "-c", code], check=True, text=True, capture_output=True)

    imported = ran.stdout.split()
    assert "stackroom.search.search" in imported
    others = ("uploads", "reconciler", "runs.run", "runs.polling", "aws.dynamodb.document_records")
    for other in others:
        assert not [name for name in imported if name.startswith(f"stackroom.{other}")]


@pytest.mark.processes
def test_console_with_agents_of_users_imports_no_strands() -> None:
    code = "import sys, functions.console.handler; print(*sys.modules)"

    ran = subprocess.run([sys.executable, "-c", code], check=True, text=True, capture_output=True)

    imported = ran.stdout.split()
    assert "stackroom_agents.user_agents.agent_builder" in imported
    assert "strands" not in imported


def test_a_knowledge_base_is_made_by_the_type_of_its_member(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    toy_store.add_to(monkeypatch)
    toy_store.KEPT["S1"] = FakeKnowledgeBase()

    made = use_cases(RetrieveSettings, {}, {"knowledge_base_id": "S1", "type": "TOY"})
    pool, left = made.retrieval.pool, made.knowledge_base("KB00000009")

    assert isinstance(found_in(pool["KB00000001"]), BedrockKnowledgeBase)
    assert isinstance(found_in(pool["S1"]), FakeKnowledgeBase)
    assert isinstance(found_in(left), BedrockKnowledgeBase)  # it has left the pool


def test_an_unknown_type_is_named_with_those_that_are_allowed() -> None:
    pool = json.dumps([{**MEMBER, "type": "SHELF"}])

    with pytest.raises(ValidationError) as refused:
        RetrieveSettings.from_env({**VARIABLES, "KB_POOL": pool})

    [problem] = refused.value.errors(include_input=False)
    assert problem["loc"] == ("kb_pool",)
    assert "a knowledge base of type 'SHELF'; allowed: 'BEDROCK', 'MANAGED'" in problem["msg"]


def test_pool_may_state_common_settings_once() -> None:
    bucket = "arn:aws:s3vectors:us-east-1:123456789012:bucket/vectors/index/"
    short = {"ids": ["KB1/DS1", "KB2/DS2"], "indexes": bucket, "catalog_data_sources": "s3"}

    first, second = TypeAdapter(Pool).validate_python(json.dumps(short))
    [managed] = TypeAdapter(Pool).validate_python('{"ids":["KB3/DS3"],"type":"MANAGED"}')

    assert first.model_dump(exclude_defaults=True) == {
        "knowledge_base_id": "KB1",
        "data_source_id": "DS1",
        "index": f"{bucket}1",
        "catalog_data_sources": "s3",
    }
    assert (second.knowledge_base_id, second.index) == ("KB2", f"{bucket}2")
    assert (managed.is_managed, managed.index) == (True, None)


def found_in(knowledge_base: object) -> object:
    """The store itself, behind those that order and pace its answers."""
    while isinstance(knowledge_base, Paced | Reranked):
        knowledge_base = knowledge_base.knowledge_base
    return knowledge_base


@pytest.mark.parametrize("settings", [RetrieveSettings, CatalogToolsSettings])
def test_searches_for_users_use_the_configured_way(
    settings: type[Settings], caplog: pytest.LogCaptureFixture
) -> None:
    member, via = {"index": INDEX}, {"RETRIEVE_VIA": "s3vectors"}

    for otherwise in ({}, {"RETRIEVE_VIA": "bedrock"}):
        assert isinstance(searched_by(settings, member, **otherwise), BedrockKnowledgeBase)

    assert isinstance(searched_by(settings, {}, **via), BedrockKnowledgeBase)
    assert "'KB00000001' is searched through Retrieve: no index in KB_POOL" in caplog.text
    directly = searched_by(settings, member, **via)
    assert isinstance(directly, S3VectorsKnowledgeBase)
    assert isinstance(found_in(vars(directly)["_fallback"]), BedrockKnowledgeBase)


@pytest.mark.parametrize("settings", [IngestSettings, PollerSettings, ReconcilerSettings])
def test_presence_of_documents_is_checked_in_the_index_itself(
    settings: type[Settings],
) -> None:
    made = use_cases(settings, {"index": INDEX})

    found = found_in(made.knowledge_base("KB00000001"))

    assert isinstance(found, IndexPresence)
    assert found.index_arn == INDEX
    assert made.documents_at_once("KB00000001") == AT_ONCE


def test_guardrail_applies_to_searches_for_people_and_not_to_the_poller() -> None:
    """Over an index, too, both there and where it falls back to."""
    guardrail = Guardrail(id="gr123", version="2")
    by_retrieve = [
        vars(searched_by(settings, {}, **GUARDED))["_guardrail"]
        for settings in (RetrieveSettings, Answers, PollerSettings)
    ]
    via = {"RETRIEVE_VIA": "s3vectors"}
    directly = vars(searched_by(RetrieveSettings, {"index": INDEX}, **GUARDED, **via))

    assert by_retrieve == [guardrail, guardrail, None]
    assert directly["_lets_through"].__self__.guardrail == guardrail
    assert vars(found_in(directly["_fallback"]))["_guardrail"] == guardrail


def test_answer_writer_has_a_client_and_guardrail_of_its_own() -> None:
    made = use_cases(Answers, **GUARDED)

    answering = made.answering

    assert answering.retrieval is made.retrieval
    writer = vars(answering.writer)
    assert writer["client"] == "writing"
    assert writer["guardrail"] == Guardrail(id="gr123", version="2")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"GUARDRAIL_ID": "gr123"}, "GUARDRAIL_VERSION"),
        ({"GUARDRAIL_VERSION": "2"}, "GUARDRAIL_ID"),
        ({"ANSWER_PROMPT": "Be brief."}, "search_results"),
        ({"ANSWER_MODEL_ARN": "amazon.nova-lite-v1:0"}, "answer_model_arn"),
    ],
)
def test_settings_of_answers_that_can_not_work_are_named(given: dict[str, str], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        Answers.from_env(VARIABLES | given)


def test_jobs_at_a_time_are_those_of_each_members_type() -> None:
    """A managed knowledge base's limit applies only with the account that owns the bucket."""
    pool = json.dumps([MEMBER, {**MEMBER, "knowledge_base_id": "KB9", "type": "MANAGED"}])
    variables = {**VARIABLES, "KB_POOL": pool}
    limits = IngestSettings.from_env({**variables, "KB_DOCS_OWNER": "123456789012"}).limits

    assert (limits.jobs_in(MEMBER["knowledge_base_id"]), limits.jobs_in("KB9")) == (1, 50)
    with pytest.raises(ValidationError, match="KB_DOCS_OWNER goes with a knowledge base"):
        IngestSettings.from_env(variables)


@pytest.mark.parametrize("member", [{}, {"type": "MANAGED"}, {"index": INDEX}])
def test_searches_for_users_are_paced_and_the_pollers_are_not(
    member: dict[str, str],
) -> None:
    variables = {"RETRIEVE_VIA": "s3vectors"}
    of_managed = {"KB_DOCS_OWNER": "123456789012"}

    def found(settings: type[Settings], **more: str) -> object:
        return use_cases(settings, member, **more).knowledge_base("KB00000001")

    for settings in (RetrieveSettings, CatalogToolsSettings):
        assert isinstance(found(settings, **variables), Paced)
    alone = found(PollerSettings, **variables, **of_managed)
    assert not isinstance(alone, Paced)
    assert not isinstance(getattr(alone, "knowledge_base", None), Paced)


def test_knowledge_bases_of_one_rate_share_a_bucket() -> None:
    members = [
        {"knowledge_base_id": each, "type": kind}
        for each, kind in (("KB1", "BEDROCK"), ("KB2", "BEDROCK"), ("KB3", "MANAGED"))
    ]
    made = use_cases(RetrieveSettings, *members)

    def bucket(knowledge_base_id: str) -> TokenBucket:
        found = made.knowledge_base(knowledge_base_id)
        assert isinstance(found, Paced)
        return found.bucket

    assert bucket("KB1") is bucket("KB2")
    assert (bucket("KB1").operation, bucket("KB1").per_second) == ("Retrieve", 20)
    assert (bucket("KB3").operation, bucket("KB3").per_second) == ("Retrieve of KB3", 10)
