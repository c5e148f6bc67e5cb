"""From a function's settings to its use cases, and what is said where a setting is wanting."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from functions.catalog_tools.handler import CatalogToolsSettings
from functions.ingest.deployed import IngestSettings
from functions.inspect.handler import InspectSettings
from functions.prewarm.handler import PrewarmSettings
from functions.reconciler.handler import ReconcilerSettings
from functions.retrieve.handler import RetrieveSettings
from functions.status_poller.handler import PollerSettings
from functions.upload_handler.handler import UploadSettings
from stackroom.aws import knowledge_bases
from stackroom.aws.guardrail import Guardrail
from stackroom.aws.index_presence import AT_ONCE, IndexPresence
from stackroom.aws.knowledge_base import BedrockKnowledgeBase
from stackroom.aws.knowledge_bases import TYPES, answers_of_pool
from stackroom.aws.reconciliation import reconciliation_of
from stackroom.aws.settings import (
    AnswerSettings,
    FittingSettings,
    Pool,
    SearchSettings,
    SettingMissing,
    Settings,
)
from stackroom.aws.use_cases import UseCases
from stackroom.aws.vector_index import S3VectorsKnowledgeBase
from stackroom.capacity import CAPACITIES
from stackroom.model import PoolMember
from stackroom.retrieval.answers import Answering
from stackroom.retrieval.coalescing import Coalesced
from stackroom.retrieval.pacing import Paced, TurnTaking
from stackroom.retrieval.reranking import Reranked
from stackroom.retrieval.store_answers import StoreAnswering
from stackroom_local.product import StoreSettings
from tests.aws.stores import ENVIRONMENT
from tests.fakes.knowledge_base import FakeKnowledgeBase

MEMBER = {"knowledge_base_id": "KB00000001", "data_source_id": "DSSHARED01"}
VARIABLES = {
    **ENVIRONMENT,
    "KB_POOL": json.dumps([MEMBER]),
    "STATE_MACHINE_ARN": "arn:aws:states:us-east-1:123456789012:stateMachine:ingest",
    "ANSWER_MODEL_ARN": "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0",
}
INDEX = "arn:aws:s3vectors:us-east-1:123456789012:bucket/vectors/index/passages"
GUARDED = {"GUARDRAIL_ID": "gr123", "GUARDRAIL_VERSION": "2"}


class Answers(AnswerSettings, FittingSettings, SearchSettings):
    """What a function that answers questions reads."""

    kb_pool: Pool
    kb_catalog_table: str
    kb_docs_bucket: str
    retrieve_min_score: float = 0.0


def use_cases(settings: type[Settings]) -> UseCases:
    return UseCases.of(settings.from_env(VARIABLES), client=lambda service: service)


@pytest.mark.parametrize(
    ("settings", "asked"),
    [
        (UploadSettings, lambda made: (made.uploads, made.runs, made.deletions, made.retrying)),
        (InspectSettings, lambda made: made.inspection),
        (IngestSettings, lambda made: (made.run_tasks, made.broken_runs, made.estimates)),
        (PollerSettings, lambda made: made.polling),
        (
            ReconcilerSettings,
            lambda made: reconciliation_of(
                made, bookmark=made.deployment.bookmark, rounds=made.deployment.rounds
            ),
        ),
        (RetrieveSettings, lambda made: made.retrieval),
        (Answers, lambda made: made.answering),
    ],
)
def test_what_a_function_reads_is_enough_for_what_it_does(
    settings: type[Settings], asked: Callable[[UseCases], object]
) -> None:
    assert asked(use_cases(settings))


def test_a_use_case_is_made_once() -> None:
    made = use_cases(IngestSettings)

    assert made.run_tasks.admission is made.broken_runs.admission
    assert made.run_tasks.documents is made.broken_runs.succession.documents


@pytest.mark.parametrize(
    ("settings", "asked", "missing"),
    [
        (Answers, lambda made: made.uploads, "KB_CONTROL_TABLE"),
        (RetrieveSettings, lambda made: made.admission, "ADMISSION_JOBS"),
        (InspectSettings, lambda made: made.runs, "STATE_MACHINE_ARN"),
        (PollerSettings, lambda made: made.retrieval, "RETRIEVE_LEAST_SCORE"),
        (RetrieveSettings, lambda made: made.answering, "ANSWER_VIA"),
    ],
)
def test_a_use_case_without_its_setting_names_the_variable(
    settings: type[Settings], asked: Callable[[UseCases], object], missing: str
) -> None:
    with pytest.raises(SettingMissing, match=f"{missing} is no variable of {settings.__name__}"):
        asked(use_cases(settings))


@pytest.mark.processes
def test_a_search_imports_nothing_of_the_ingestion() -> None:
    code = f"""
import sys
from functions.retrieve.handler import RetrieveSettings
from stackroom.aws.use_cases import UseCases
UseCases.of(RetrieveSettings.from_env({VARIABLES!r}), client=lambda service: service).retrieval
print(*(name for name in sys.modules if name.startswith("stackroom.")))
"""

    ran = subprocess.run([sys.executable, "-c", code], check=True, text=True, capture_output=True)

    imported = ran.stdout.split()
    assert "stackroom.retrieval.search" in imported
    for other in ("uploads", "ingestion", "deletions", "audits", "runs", "aws.documents"):
        assert not [name for name in imported if name.startswith(f"stackroom.{other}")]


def test_a_knowledge_base_is_made_by_the_type_of_its_member(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made_of: list[PoolMember] = []

    def shelf(_deployment: object, member: PoolMember) -> FakeKnowledgeBase:
        made_of.append(member)
        return FakeKnowledgeBase()

    monkeypatch.setattr(knowledge_bases, "TYPES", {**knowledge_bases.TYPES, "SHELF": shelf})
    pool = json.dumps([MEMBER, {**MEMBER, "knowledge_base_id": "S1", "type": "SHELF"}])
    settings = RetrieveSettings.from_env({**VARIABLES, "KB_POOL": pool})

    made = UseCases.of(settings, client=lambda service: service).retrieval.pool

    assert isinstance(found_in(made["KB00000001"]), BedrockKnowledgeBase)
    assert isinstance(found_in(made["S1"]), FakeKnowledgeBase)
    assert [each.knowledge_base_id for each in made_of] == ["S1"]


def test_a_knowledge_base_that_has_left_the_pool_is_taken_for_bedrocks() -> None:
    left = use_cases(PollerSettings).deployment.knowledge_base("KB00000009")

    assert isinstance(left, BedrockKnowledgeBase)


def test_an_unknown_type_is_named_with_those_that_are_allowed() -> None:
    pool = json.dumps([{**MEMBER, "type": "SHELF"}])

    with pytest.raises(ValidationError) as refused:
        RetrieveSettings.from_env({**VARIABLES, "KB_POOL": pool})

    [problem] = refused.value.errors(include_input=False)
    assert problem["loc"] == ("kb_pool",)
    assert "a knowledge base of type 'SHELF'; allowed: 'BEDROCK', 'MANAGED'" in problem["msg"]


def test_a_member_may_be_told_with_more_than_is_read_of_it() -> None:
    pool = json.dumps([{**MEMBER, "colour": "green"}])

    read = RetrieveSettings.from_env({**VARIABLES, "KB_POOL": pool}).kb_pool

    assert read == (PoolMember.model_validate({**MEMBER, "type": "BEDROCK"}),)


def found_in(knowledge_base: object) -> object:
    """The store itself, behind those that share, order and pace its answers."""
    while isinstance(knowledge_base, Coalesced | Paced | Reranked):
        knowledge_base = knowledge_base.knowledge_base
    return knowledge_base


def over_one(settings: type[Settings], member: dict[str, str], **variables: str) -> UseCases:
    """Over a pool of that one member."""
    given = {**VARIABLES, "KB_POOL": json.dumps([{**MEMBER, **member}]), **variables}
    return UseCases.of(settings.from_env(given), client=lambda service: service)


def searched_by(settings: type[Settings], via: str | None, **member: str) -> object:
    """What a function searches with that reads these settings."""
    variables = {} if via is None else {"RETRIEVE_VIA": via}
    made = over_one(settings, member, **variables)
    return found_in(made.deployment.knowledge_base("KB00000001"))


def at_once(settings: type[Settings], **member: str) -> int:
    """Documents that one question names, of a function that only looks what is there."""
    return over_one(settings, member).deployment.documents_at_once("KB00000001")


@pytest.mark.parametrize("settings", [RetrieveSettings, CatalogToolsSettings, PrewarmSettings])
def test_who_searches_for_somebody_does_it_as_is_configured(
    settings: type[Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(VARIABLES, "PREWARM_MINUTES", "15")

    by_default = searched_by(settings, None, index=INDEX)
    by_retrieve = searched_by(settings, "bedrock", index=INDEX)
    directly = searched_by(settings, "s3vectors", index=INDEX)

    assert isinstance(by_default, BedrockKnowledgeBase)
    assert isinstance(by_retrieve, BedrockKnowledgeBase)
    assert isinstance(directly, S3VectorsKnowledgeBase)
    assert isinstance(found_in(vars(directly)["_fallback"]), BedrockKnowledgeBase)


@pytest.mark.parametrize("settings", [IngestSettings, PollerSettings, ReconcilerSettings])
def test_who_looks_whether_something_is_found_asks_the_index_itself(
    settings: type[Settings],
) -> None:
    found = searched_by(settings, None, index=INDEX)

    assert isinstance(found, IndexPresence)
    assert found.index_arn == INDEX
    assert at_once(settings, index=INDEX) == AT_ONCE


@pytest.mark.parametrize("member", [{}, {"type": "MANAGED"}, {"type": "MANAGED", "index": INDEX}])
def test_where_it_has_no_index_of_ours_bedrock_is_asked_about_fewer_at_once(
    member: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(VARIABLES, "KB_DOCS_OWNER", "123456789012")

    assert isinstance(searched_by(PollerSettings, None, **member), BedrockKnowledgeBase)
    assert at_once(PollerSettings, **member) == 5


def test_a_member_without_an_index_is_searched_through_retrieve_and_the_operator_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert isinstance(searched_by(RetrieveSettings, "s3vectors"), BedrockKnowledgeBase)

    assert "'KB00000001' is searched through Retrieve: no index in KB_POOL" in caplog.text


def test_knowledge_bases_share_the_vectors_of_questions() -> None:
    members = [{**MEMBER, "knowledge_base_id": f"KB{each}", "index": INDEX} for each in (1, 2)]
    variables = {**VARIABLES, "KB_POOL": json.dumps(members), "RETRIEVE_VIA": "s3vectors"}
    made = UseCases.of(RetrieveSettings.from_env(variables), client=lambda service: service)

    one, other = map(found_in, made.retrieval.pool.values())

    assert vars(one)["_embeddings"] is vars(other)["_embeddings"]


def test_who_shows_passages_to_people_is_guarded_and_who_looks_for_them_is_not() -> None:
    def guardrail(settings: type[Settings]) -> object:
        made = UseCases.of(settings.from_env(VARIABLES | GUARDED), client=lambda service: service)
        knowledge_base = made.deployment.knowledge_base("KB00000001")
        return vars(found_in(knowledge_base))["_guardrail"]

    assert guardrail(RetrieveSettings) == guardrail(Answers) == Guardrail(id="gr123", version="2")
    assert guardrail(PollerSettings) is None


def test_who_searches_an_index_is_guarded_there_and_where_it_falls_back_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in GUARDED.items():
        monkeypatch.setitem(VARIABLES, name, value)

    made: Any = vars(searched_by(RetrieveSettings, "s3vectors", index=INDEX))

    guardrail = Guardrail(id="gr123", version="2")
    assert made["_lets_through"].__self__.guardrail == guardrail
    assert vars(found_in(made["_fallback"]))["_guardrail"] == guardrail


def test_a_model_writes_from_the_search_and_has_the_patience_of_a_client_of_its_own() -> None:
    made = UseCases.of(Answers.from_env(VARIABLES | GUARDED), client=lambda service: service)

    answering = made.answering

    assert isinstance(answering, Answering)
    assert answering.retrieval is made.retrieval
    writer = vars(answering.writer)
    assert (writer["_client"], writer["_guardrail"]) == (
        "writing",
        Guardrail(id="gr123", version="2"),
    )


def test_a_store_that_answers_by_itself_has_the_patience_of_a_client_of_its_own() -> None:
    way = {"ANSWER_VIA": "retrieve_and_generate", "RETRIEVE_VIA": "s3vectors"}
    settings = Answers.from_env(VARIABLES | way)

    asked = UseCases.of(settings, client=lambda service: service).answering

    assert isinstance(asked, StoreAnswering)
    searched = found_in(asked.pool["KB00000001"])
    assert isinstance(searched, BedrockKnowledgeBase)  # it knows no other search
    assert vars(asked.answers["KB00000001"])["_client"] == "answers"
    assert vars(searched)["_client"] == "bedrock-agent-runtime"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"GUARDRAIL_ID": "gr123"}, "GUARDRAIL_VERSION"),
        ({"GUARDRAIL_VERSION": "2"}, "GUARDRAIL_ID"),
        ({"ANSWER_VIA": "invoke_model"}, "answer_via"),
        ({"ANSWER_PROMPT": "Be brief."}, "search_results"),
        ({"ANSWER_MODEL_ARN": "amazon.nova-lite-v1:0"}, "answer_model_arn"),
    ],
)
def test_settings_of_answers_that_can_not_work_are_named(given: dict[str, str], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        Answers.from_env(VARIABLES | given)


@pytest.mark.parametrize("via", [None, "bedrock", "s3vectors"])
def test_a_managed_knowledge_base_is_searched_by_retrieve_however_others_are(
    via: str | None,
) -> None:
    found = searched_by(RetrieveSettings, via, type="MANAGED")

    assert isinstance(found, BedrockKnowledgeBase)
    assert "managedSearchConfiguration" in found._options.configuration(5, None)


def test_a_managed_knowledge_base_has_no_answers_of_its_own() -> None:
    pool = json.dumps([MEMBER, {**MEMBER, "knowledge_base_id": "KB9", "type": "MANAGED"}])
    settings = CatalogToolsSettings.from_env({**VARIABLES, "KB_POOL": pool})
    made = UseCases.of(settings, client=lambda service: service)

    assert list(answers_of_pool(made.deployment)) == [MEMBER["knowledge_base_id"]]


def test_every_type_of_a_pool_says_what_it_takes() -> None:
    assert CAPACITIES.keys() == TYPES.keys()


def test_jobs_at_a_time_are_those_of_each_members_type() -> None:
    pool = json.dumps([MEMBER, {**MEMBER, "knowledge_base_id": "KB9", "type": "MANAGED"}])
    limits = IngestSettings.from_env(
        {**VARIABLES, "KB_POOL": pool, "KB_DOCS_OWNER": "123456789012"}
    ).limits

    assert limits.jobs_in(MEMBER["knowledge_base_id"]) == 1
    assert limits.jobs_in("KB9") == 50


def test_a_managed_knowledge_base_needs_the_account_that_has_the_bucket() -> None:
    pool = json.dumps([{**MEMBER, "type": "MANAGED"}])

    with pytest.raises(ValidationError, match="KB_DOCS_OWNER goes with a knowledge base"):
        IngestSettings.from_env({**VARIABLES, "KB_POOL": pool})


def test_who_only_looks_at_the_stores_lists_what_lies_there_without_a_pool() -> None:
    settings = StoreSettings(
        kb_catalog_table="catalogs",
        kb_control_table="control",
        kb_docs_bucket="documents",
        ingest_speed=1.0,
    )

    looking = UseCases.of(settings, lambda service: None)

    assert looking.deployment.inventory.managed == frozenset()


def layers_of(knowledge_base: object) -> list[str]:
    """What stands before the store, outermost first."""
    layers: list[str] = []
    while isinstance(knowledge_base, Coalesced | Paced | Reranked):
        layers.append(type(knowledge_base).__name__)
        knowledge_base = knowledge_base.knowledge_base
    return layers


@pytest.mark.parametrize("settings", [RetrieveSettings, CatalogToolsSettings])
@pytest.mark.parametrize("member", [{}, {"type": "MANAGED"}, {"index": INDEX}])
def test_who_searches_for_somebody_takes_turns(
    settings: type[Settings], member: dict[str, str]
) -> None:
    variables = {**VARIABLES, "KB_POOL": json.dumps([{**MEMBER, **member}])}
    variables["RETRIEVE_VIA"] = "s3vectors" if "index" in member else "bedrock"
    made = UseCases.of(settings.from_env(variables), client=lambda service: service)

    found = made.deployment.knowledge_base("KB00000001")

    assert layers_of(found) == ["Coalesced", "Paced"]


@pytest.mark.parametrize("settings", [PollerSettings, PrewarmSettings])
def test_who_searches_for_nobody_takes_no_turns(
    settings: type[Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(VARIABLES, "PREWARM_MINUTES", "15")
    made = use_cases(settings)

    assert "Paced" not in layers_of(made.deployment.knowledge_base("KB00000001"))


def test_knowledge_bases_of_one_rate_take_turns_together() -> None:
    members = [
        {**MEMBER, "knowledge_base_id": each, "type": kind}
        for each, kind in (("KB1", "BEDROCK"), ("KB2", "BEDROCK"), ("KB3", "MANAGED"))
    ]
    variables = {**VARIABLES, "KB_POOL": json.dumps(members)}
    made = UseCases.of(RetrieveSettings.from_env(variables), client=lambda service: service)

    def taking(knowledge_base_id: str) -> TurnTaking:
        found: Any = made.deployment.knowledge_base(knowledge_base_id)
        asked: TurnTaking = found.knowledge_base.taking
        return asked

    assert taking("KB1") is taking("KB2")
    assert (taking("KB1").operation, taking("KB1").rate.per_second) == ("Retrieve", 20)
    assert (taking("KB3").operation, taking("KB3").rate.per_second) == ("Retrieve of KB3", 10)
    assert vars(taking("KB1").book)["client"] == "turns"
