"""Searching: which knowledge bases, whose passages, and what of them."""

from dataclasses import replace
from datetime import UTC, datetime
from threading import Barrier

import pytest

from stackroom.access.identity import Caller
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import (
    KnowledgeBaseNotFound,
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    MissingIdentity,
    RetrievalFailed,
    SearchRefused,
    StoreUnavailable,
    ValidationError,
)
from stackroom.model.filters import AllOf, Filter, Has
from stackroom.model.keys import TextName, catalog_id_of, document_id_of
from stackroom.model.passages import Place, Retrieved
from stackroom.model.records import STILL_ANSWERS, DocumentStatus
from stackroom.model.repositories import DocumentNotes
from stackroom.search.names import NamedDocuments
from stackroom.search.results import SearchAnswer, success
from stackroom.search.search import Retrieval
from stackroom.search.search_arguments import KNOWLEDGE_BASE_RETRIEVE
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.fakes.names import FakeNames
from tests.support.retrieval import ALICE, World


@pytest.fixture
def world() -> World:
    return World()


def search(retrieval: Retrieval, caller: Caller = ALICE, **arguments: object) -> SearchAnswer:
    given = {"query": "annual leave", **arguments}
    return retrieval.search(KNOWLEDGE_BASE_RETRIEVE.parse(given), caller)


def contents(answer: SearchAnswer) -> list[str]:
    return [result.content for result in answer.results]


def test_filter_is_held_against_the_types_of_the_callers_own_catalogs(world: World) -> None:
    world.catalogs.put("cat-1", "KB1")
    world.catalogs.record_attributes("cat-1", frozenset({"year:text"}))
    world.catalogs.put("cat-2", "KB1", user_id="bob")
    world.catalogs.record_attributes("cat-2", frozenset({"year:number"}))
    world.kb.put("annual leave of 2026", attributes={"year": "2026"})

    with pytest.raises(ValidationError, match="'year' is a text in your documents"):
        search(world.retrieval, filter={"year": {"gte": 2025}})
    with pytest.raises(ValidationError, match="'year' is a text in your documents"):
        search(world.retrieval, filter={"year": 2026}, catalog_id="cat-1")
    found = search(world.retrieval, filter={"year": "2026"})

    assert contents(found) == ["annual leave of 2026"]
    assert found.filter_notice is None
    assert world.kb.filters == [AllOf((Has("user_id", "alice"), Has("year", "2026")))]


def test_range_over_shared_documents_is_answered_with_a_notice(world: World) -> None:
    world.catalogs.put("cat-1", "KB1")
    world.catalogs.record_attributes("cat-1", frozenset({"year:text"}))
    shared = {"allowed_groups": ["hr"], "year": 2026}
    world.kb.put("annual leave of 2026", user_id="bob", catalog_id="cat-2", attributes=shared)
    retrieval = replace(world.retrieval, sharing=True)

    found = search(retrieval, Caller("alice", ("hr",)), filter={"year": {"gte": 2025}})

    assert contents(found) == ["annual leave of 2026"]
    assert found.filter_notice is not None
    assert found.filter_notice.startswith("'year' is text in some documents, which the filter")


def test_filter_that_no_store_can_express_is_refused_with_the_reason(world: World) -> None:
    world.kb.failure = SearchRefused("Retrieve can't filter by whether there is 'year'")

    with pytest.raises(
        RetrievalFailed, match="no knowledge base can be asked this: Retrieve can't"
    ):
        search(world.retrieval, filter={"year": {"exists": True}})


@pytest.mark.parametrize(
    ("asked", "notice"),
    [
        ({"year": 2026}, None),
        ({"jear": 2026}, "no document of yours is recorded with the attribute 'jear'. Attributes:"),
        ({"year": 2031}, "no passage that you may search matches the filter. Attributes:"),
        ({"size": {"lt": 9}}, "'size' is text in some documents, which the filter leaves out."),
        ({"size": {"exists": True}}, None),
    ],
)
def test_notice_says_why_a_filter_leaves_documents_out(
    world: World, asked: dict[str, object], notice: str | None
) -> None:
    world.catalogs.put("cat-1", "KB1")
    types = frozenset({"year:number", "size:number", "size:text"})
    world.catalogs.record_attributes("cat-1", types)
    world.kb.put("annual leave of 2026", attributes={"year": 2026, "size": 3})

    found = search(world.retrieval, filter=asked).filter_notice

    if notice is None or found is None:
        assert found == notice
    else:
        assert found.startswith(notice)
        assert found.endswith(
            "size (number or text), uploaded_at (date), uploaded_ts (number), year (number)."
        )


def test_document_being_deleted_is_hidden_and_unknown_state_fails_search(
    world: World,
) -> None:
    world.kb.put("annual leave is 30 days", filename="old.txt", score=0.9)
    world.kb.put("annual leave is 31 days", filename="new.txt", score=0.5)
    world.staying.going = {"doc-old.txt"}

    answer = search(world.retrieval)

    assert contents(answer) == ["annual leave is 31 days"]
    assert answer.withheld == 0  # which tells of what is somebody else's
    world.staying.fails("staying", StoreUnavailable("BatchGetItem", "timeout"))
    with pytest.raises(RetrievalFailed, match="which documents are being deleted"):
        search(world.retrieval)
    world.kb.forget()
    assert contents(search(world.retrieval)) == []


EARLIER = "of the version; the newer one is not indexed yet"
NOW, BEFORE, LATE = (letter * 16 for letter in "abc")  # ids of texts of one document


@pytest.mark.parametrize(
    ("notes", "shown"),
    [
        (DocumentNotes(text_id=NOW, indexed_text_id=NOW), {NOW: ()}),
        (
            DocumentNotes(text_id=NOW, indexed_text_id=BEFORE),
            {NOW: (), BEFORE: (EARLIER,)},
        ),
        (DocumentNotes(indexed_text_id=BEFORE), {BEFORE: (EARLIER,)}),
        (DocumentNotes(), {}),
    ],
    ids=["indexed", "replaced", "unread", "rebuilt"],
)
def test_passages_of_texts_that_the_record_does_not_name_are_hidden(
    world: World, notes: DocumentNotes, shown: dict[str, tuple[str, ...]]
) -> None:
    for text_id in (NOW, BEFORE, LATE):
        world.kb.put(
            f"⟦leave.txt · Days⟧\nannual leave by {text_id}",
            filename="leave.txt",
            attributes={"text_id": text_id},
        )
    world.staying.notes = {"doc-leave.txt": notes}

    found = search(world.retrieval).results

    texts = {f"annual leave by {text_id}": gaps for text_id, gaps in shown.items()}
    assert {each.content: each.gaps for each in found} == texts


@pytest.mark.parametrize(("text_id", "is_earlier"), [(NOW, False), (BEFORE, True), (None, True)])
def test_answer_names_the_version_of_a_passage_a_newer_one_is_there_for(
    world: World, text_id: str | None, is_earlier: bool
) -> None:
    """Without a text id a job has crawled it; then the newer version has failed."""
    attributes = {} if text_id is None else {"text_id": text_id}
    world.kb.put("annual leave", filename="leave.txt", attributes=attributes)
    world.staying.notes = {
        "doc-leave.txt": DocumentNotes(
            text_id=NOW,
            indexed_text_id=BEFORE,
            version_id="v2",
            indexed_version_id="v1",
            status=DocumentStatus.FAILED,
            status_reason=f"the PDF is cut off{STILL_ANSWERS}",
            indexed_at=datetime(2026, 5, 4, 10, tzinfo=UTC),
        )
    }

    [found] = search(world.retrieval).results
    results = success(search(world.retrieval))["results"]

    assert isinstance(results, list)
    [shown] = results

    assert found.source.version_id == ("v1" if is_earlier else "v2")
    earlier = (
        "of the version indexed on 2026-05-04 10:00 UTC; the newer one failed: the PDF is cut off"
    )
    assert found.gaps == ((earlier,) if is_earlier else ())
    assert shown["source"].get("version_id") == ("v1" if is_earlier else None)


def test_words_of_a_context_line_are_not_the_passages_own(world: World) -> None:
    world.kb.put(
        "⟦leave.txt · Sabbaticals⟧\nThirty days a year.",
        filename="leave.txt",
        attributes={"text_id": NOW},
        similarity=0.5,
    )
    world.staying.notes = {"doc-leave.txt": DocumentNotes(text_id=NOW, indexed_text_id=NOW)}

    [found] = search(world.retrieval, query="sabbaticals").results

    assert (found.text, found.ranks and found.ranks.by_words) == ("Thirty days a year.", None)


def test_passage_sent_without_a_text_is_hidden_once_a_text_is_indexed(world: World) -> None:
    catalog_id = catalog_id_of("alice", "hr")
    world.catalogs.put(catalog_id, "KB1", source="DS1")
    document_id = document_id_of(catalog_id, "plan.txt")
    world.kb.put(
        "annual leave",
        catalog_id=catalog_id,
        filename="plan.txt",
        attributes={"document_id": document_id},
        custom_id=document_id,
    )

    for indexed, shown in ((None, ["annual leave"]), (NOW, [])):
        world.staying.notes = {document_id: DocumentNotes(text_id=NOW, indexed_text_id=indexed)}
        assert contents(search(world.retrieval)) == shown


def test_a_knowledge_base_that_ignores_the_filter_is_not_believed(world: World) -> None:
    world.kb.ignores_filters = True
    world.kb.put("annual leave is 30 days", user_id="alice")
    world.kb.put("annual leave is 12 days", user_id="bob")

    with pytest.raises(RetrievalFailed) as raised:
        search(world.retrieval, ALICE)

    assert raised.value.failures == {"KB1": "Retrieve answered passages outside the filter"}


@pytest.mark.parametrize(
    "key", ["bob/cat-1/plan.txt", "alicel/cat-1/plan.txt", "Alice/cat-1/plan.txt", "alice"]
)
def test_passage_outside_the_callers_prefix_is_withheld_and_logged(
    world: World, caplog: pytest.LogCaptureFixture, key: str
) -> None:
    world.kb.put("annual leave is 30 days", user_id="alice")
    world.kb.put("annual leave is 12 days", user_id="alice", key=key)

    answer = search(world.retrieval, ALICE)

    assert contents(answer) == ["annual leave is 30 days"]
    assert answer.withheld == 1
    assert f"s3://docs/{key}" in caplog.text
    assert "12 days" not in caplog.text


def test_passage_with_only_its_data_source_is_resolved_to_its_object(world: World) -> None:
    world.catalogs.put("cat-1", "KB1", source="DS1")
    for name in ("a.txt", "b.txt"):
        attributes = {"document_id": document_id_of("cat-1", name)}
        world.kb.put(
            "annual leave",
            filename=name,
            attributes=attributes,
            data_source_id="DS1",
            tells_source=False,
        )
    locating = replace(world.retrieval, uri_of=lambda key: f"s3://docs/{key}")

    answers = [search(locating), search(locating, catalog_id="cat-1"), search(world.retrieval)]

    told = ["s3://docs/alice/cat-1/a.txt", "s3://docs/alice/cat-1/b.txt"]
    assert [_uris(each) for each in answers] == [told, told, [None, None]]
    assert [each.withheld for each in answers] == [0, 0, 0]


def test_passage_of_a_text_is_found_as_of_its_file_and_a_forged_one_is_not(world: World) -> None:
    catalog_id = catalog_id_of("alice", "hr")
    world.catalogs.put(catalog_id, "KB1", source="DS1")
    plan, other = (document_id_of(catalog_id, name) for name in ("plan.txt", "other.txt"))
    for owner, document_id in (("alice", plan), ("mallory", plan), ("alice", other)):
        world.kb.put(
            f"annual leave in {owner}'s {document_id}",
            catalog_id=catalog_id,
            filename="plan.txt",
            attributes={"document_id": plan},
            data_source_id="DS1",
            key=TextName(owner, catalog_id, document_id, "0" * 32).key,
        )
    locating = replace(world.retrieval, uri_of=lambda key: f"s3://docs/{key}")

    answers = [search(locating), search(locating, catalog_id=catalog_id), search(world.retrieval)]

    told = [f"s3://docs/alice/{catalog_id}/plan.txt"]
    assert [_uris(each) for each in answers] == [told, told, [None]]
    assert [each.withheld for each in answers] == [2, 2, 2]
    assert {each.results[0].source.document_id for each in answers} == {plan}


def _uris(answer: SearchAnswer) -> list[str | None]:
    return [
        source.uri for result in answer.results for source in (result.source, *result.other_sources)
    ]


def test_unreadable_catalogs_fail_the_search(world: World) -> None:
    world.catalogs.failure = StoreUnavailable("GetItem", "InternalServerError")
    shown = document_id_of("cat-1", "handbook.txt")
    world.kb.put("annual leave", catalog_id="cat-1", custom_id=shown)

    for narrowed in ({}, {"catalog_id": "cat-1"}):
        with pytest.raises(RetrievalFailed):
            search(world.retrieval, ALICE, **narrowed)


def test_only_knowledge_bases_with_the_callers_catalogs_are_asked(world: World) -> None:
    world.pool.update(KB2=FakeKnowledgeBase(), KB3=FakeKnowledgeBase())
    world.catalogs.put("cat-1", "KB3")
    world.catalogs.put("cat-2", "KB3")
    world.catalogs.put("cat-3", None)
    world.catalogs.put("cat-4", "KB2", user_id="bob")

    answer = search(world.retrieval)

    assert answer.knowledge_bases == ("KB3",)
    assert world.kb.filters == world.pool["KB2"].filters == []


def test_named_catalog_is_searched_alone_and_in_its_knowledge_base(world: World) -> None:
    world.pool["KB2"] = FakeKnowledgeBase()
    world.catalogs.put("cat-1", "KB2")
    world.pool["KB2"].put("annual leave here", catalog_id="cat-1")
    world.pool["KB2"].put("annual leave there", catalog_id="cat-2")
    world.pool["KB2"].put("annual leave elsewhere", key="alice/cat-2/plan.txt")

    answer = search(world.retrieval, catalog_id="cat-1")

    assert (contents(answer), answer.withheld) == (["annual leave here"], 1)
    assert answer.knowledge_bases == ("KB2",)


def test_a_knowledge_base_can_be_named_if_it_is_in_the_pool(world: World) -> None:
    world.pool["KB2"] = FakeKnowledgeBase()
    world.catalogs.put("cat-1", "KB1")
    world.catalogs.put("cat-2", "KB2")

    answer = search(world.retrieval, knowledge_base_id="KB2")
    with pytest.raises(KnowledgeBaseNotFound) as raised:
        search(world.retrieval, knowledge_base_id="KB9")

    assert answer.knowledge_bases == ("KB2",)
    assert str(raised.value) == "Knowledge base 'KB9' not found"


def test_five_knowledge_bases_are_asked_at_once(world: World) -> None:
    all_asked = Barrier(5, timeout=120)
    for n in range(1, 6):
        world.pool[f"KB{n}"] = FakeKnowledgeBase()
        world.pool[f"KB{n}"].before("retrieve", lambda *_, **__: all_asked.wait())
        world.catalogs.put(f"cat-{n}", f"KB{n}")

    answer = search(world.retrieval)

    assert answer.failures == {}
    assert not all_asked.broken


def test_search_with_one_of_two_failing_bases_is_a_marked_partial_answer(world: World) -> None:
    world.pool["KB2"] = FakeKnowledgeBase(failure=KnowledgeBaseUnavailable("Retrieve", "Timeout"))
    world.catalogs.put("cat-1", "KB1")
    world.catalogs.put("cat-2", "KB2")
    world.catalogs.put("cat-3", "KB-gone")
    world.kb.put("annual leave")

    answer = search(world.retrieval)

    assert contents(answer) == ["annual leave"]
    assert answer.failures == {
        "KB2": "Retrieve answered Timeout",
        "KB-gone": "Retrieve answered not in the pool",
    }


def test_cut_passage_names_only_the_pages_of_its_shown_text(world: World) -> None:
    opening = "The first page says this. " * 15
    rest = f"The last pages say that, {'and that' * 20}, and more. " * 10
    world.kb.put(opening + rest, filename="whole.pdf")
    whole = Place(page=3, page_first=1, page_last=5)
    # The first that holds a text tells its place: the opening stands in both.
    world.place_maps.put_place("doc-whole.pdf", opening, Place(page=1, page_first=1, page_last=1))
    world.place_maps.put_place("doc-whole.pdf", opening + rest, whole)

    [cut] = search(world.retrieval, max_tokens=101).results
    [complete] = search(world.retrieval, max_tokens=4_000).results

    assert cut.content == opening.rstrip() + "..."
    assert (cut.source.page, cut.source.page_last) == (1, 1)
    assert (complete.source.page, complete.source.page_last) == (3, 5)


BOB = Caller("bob", ("finance", "staff"))
FINANCE = {"allowed_groups": ["finance", "board"]}


@pytest.fixture
def deployed() -> World:
    """Two knowledge bases over which documents can be shared, and a catalog of Bob's in one."""
    world = World()
    world.pool["KB2"] = FakeKnowledgeBase()
    world.catalogs.put("cat-bob", "KB1", user_id="bob")
    world.retrieval = replace(world.retrieval, sharing=True)
    return world


def test_caller_finds_own_documents_and_those_shared_with_their_groups(
    deployed: World,
) -> None:
    deployed.kb.put("own", user_id="bob", score=0.5)
    deployed.kb.put("alice's", attributes=FINANCE, score=0.9)
    deployed.pool["KB2"].put("carol's", user_id="carol", attributes=FINANCE, score=0.7)
    deployed.pool["KB2"].put(
        "carol's other", user_id="carol", attributes={"allowed_groups": ["it"]}
    )
    deployed.pool["KB2"].put("carol's own", user_id="carol")

    answer = search(deployed.retrieval, BOB)
    without_catalogs = search(deployed.retrieval, Caller("dora", ("finance",)))

    assert contents(without_catalogs) == ["alice's", "carol's"]
    assert contents(answer) == ["alice's", "carol's", "own"]
    assert answer.knowledge_bases == ("KB1", "KB2")
    assert (answer.withheld, answer.failures) == (0, {})
    assert answer.results[0].source.uri == "s3://docs/alice/cat-1/handbook.txt"


def test_nothing_is_shared_if_disabled_or_with_a_caller_without_groups(
    deployed: World,
) -> None:
    deployed.kb.put("alice's", attributes=FINANCE)

    answer = search(replace(deployed.retrieval, sharing=False), BOB)
    of_no_group = search(deployed.retrieval, Caller("bob"))

    for each in (answer, of_no_group):
        assert (contents(each), each.knowledge_bases) == ([], ("KB1",))
    assert deployed.kb.filters == [Has("user_id", "bob")] * 2


def test_named_catalog_must_be_the_callers_own_and_excludes_shared_ones(
    deployed: World,
) -> None:
    deployed.catalogs.put("cat-1", "KB1")
    deployed.kb.put("alice's", attributes=FINANCE)
    deployed.kb.put("own", user_id="bob", catalog_id="cat-bob")

    answer = search(deployed.retrieval, BOB, catalog_id="cat-bob")
    with pytest.raises(KnowledgeBaseNotFound) as shared:
        search(deployed.retrieval, BOB, catalog_id="cat-1")
    with pytest.raises(KnowledgeBaseNotFound) as absent:
        search(deployed.retrieval, BOB, catalog_id="cat-nix")

    assert (contents(answer), len(deployed.kb.filters)) == (["own"], 1)
    assert str(shared.value).replace("cat-1", "cat-nix") == str(absent.value)


def test_forged_share_of_anothers_document_is_withheld_and_counted_once(
    deployed: World, caplog: pytest.LogCaptureFixture
) -> None:
    groups = tuple(f"group {n}" for n in range(6))
    forged = {"allowed_groups": list(groups)}
    deployed.kb.put("alice's", user_id="mallory", attributes=forged, key="alice/cat-1/plan.txt")
    deployed.kb.put("mallory's", user_id="mallory", attributes=forged)

    answer = search(deployed.retrieval, Caller("bob", groups))

    assert (contents(answer), answer.withheld) == (["mallory's"], 1)
    assert "passages kept from 'bob': they are from ['s3://docs/alice/cat-1/plan.txt']" in (
        caplog.text
    )


def throttle_others(_: str, asked: Filter | None, *__: object, **___: object) -> None:
    """Throttle requests that aren't for one user's documents."""
    if not isinstance(asked, Has):
        raise KnowledgeBaseThrottled("Retrieve")


def test_a_throttled_query_for_groups_makes_a_partial_answer_that_says_so(
    deployed: World,
) -> None:
    deployed.kb.before("retrieve", throttle_others)
    deployed.kb.put("own", user_id="bob")
    deployed.kb.put("shared here", attributes=FINANCE)
    deployed.pool["KB2"].put("shared there", attributes=FINANCE)

    answer = search(deployed.retrieval, BOB)

    assert sorted(contents(answer)) == ["own", "shared there"]
    assert answer.failures == {"KB1": "Retrieve was throttled for what others share with you"}


@pytest.mark.parametrize("nobody", ["", " ", "!rejected", "alice/cat-1", "*"])
def test_caller_without_a_valid_user_id_is_refused_despite_groups(
    deployed: World, nobody: str
) -> None:
    with pytest.raises(MissingIdentity):
        search(deployed.retrieval, Caller(nobody, ("finance",)))

    assert (deployed.kb.filters, deployed.catalogs.reads) == ([], 0)


def put_report(world: World, text: str, filename: str, score: float, user: str = "alice") -> None:
    attributes = {"document_id": f"cat-1/{filename}"}
    world.kb.put(
        text,
        user_id=user,
        filename=filename,
        score=score,
        similarity=score,
        attributes=attributes,
    )


def world_of_reports(world: World) -> Retrieval:
    """A hundred passages of one report are nearer to the question than any of the other."""
    world.catalogs.put("cat-1", "KB1")
    for number in range(100):
        put_report(world, f"annual leave {number}", "AMZN_2023.pdf", 0.9)
    put_report(world, "annual leave of ours", "MSFT_2023.pdf", 0.1)
    names = FakeNames("AMZN_2023.pdf", "MSFT_2023.pdf")
    return replace(world.retrieval, named=NamedDocuments(names, world.catalogs))


def test_document_named_in_the_question_is_searched_if_it_was_not_found(
    world: World,
) -> None:
    retrieval = world_of_reports(world)

    named = search(retrieval, query="annual leave at MSFT", catalog_id="cat-1")
    unnamed = search(retrieval, query="annual leave", catalog_id="cat-1")

    assert named.results[0].source.filename == "MSFT_2023.pdf"
    assert {each.source.filename for each in unnamed.results} == {"AMZN_2023.pdf"}
    assert [str(each).count("MSFT") for each in world.kb.filters] == [0, 1, 0]


def test_named_document_of_another_user_stays_hidden(world: World) -> None:
    retrieval = world_of_reports(world)
    put_report(world, "secret leave", "MSFT_2023.pdf", 1, user="bob")

    answer = search(retrieval, query="annual leave at MSFT", catalog_id="cat-1")

    assert "secret leave" not in contents(answer)


def test_failure_to_ask_a_named_document_leaves_the_search_as_it_is(world: World) -> None:
    retrieval = world_of_reports(world)
    asked = list[Filter | None]()

    class OnceOnly(FakeKnowledgeBase):
        def retrieve(
            self,
            query: str,
            condition: Filter | None,
            limit: int,
            *,
            deadline: Deadline = NO_DEADLINE,
        ) -> Retrieved:
            asked.append(condition)
            if len(asked) > 1:
                raise KnowledgeBaseThrottled("Retrieve")
            return world.kb.retrieve(query, condition, limit, deadline=deadline)

    failing = replace(retrieval, pool={"KB1": OnceOnly()})
    answer = search(failing, query="annual leave at MSFT", catalog_id="cat-1")

    assert len(asked) == 2
    assert {each.source.filename for each in answer.results} == {"AMZN_2023.pdf"}
