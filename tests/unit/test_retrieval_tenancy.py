"""The one filter of a search, and whose a passage is by what proves it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackroom.access.identity import Caller
from stackroom.access.search_filter_argument import conditions, resolve_types
from stackroom.access.tenancy import Leftovers, Member, Operator, Origin, Tenant, View
from stackroom.errors import KnowledgeBaseUnavailable, ValidationError
from stackroom.model.attributes import known_types
from stackroom.model.filters import AllOf, AnyOf, Has, Lists
from stackroom.model.keys import document_id_of
from stackroom.model.passages import Passage
from stackroom.model.records import Catalog, DataSourceType
from tests.fakes.knowledge_base import FakeKnowledgeBase, matches
from tests.support.records import a_catalog

OPERATORS = st.sampled_from(["gte", "gt", "lte", "lt", "between", "in", "exists", ">="])
KEYS = (
    st.sampled_from(["user_id", "catalog_id", "orAll", "equals", "domain", "city", "folder"])
    | OPERATORS
    | st.text()
)


def test_conditions_are_added_to_the_tenant_filter_and_never_replace_it() -> None:
    asked = conditions({"domain": "hr", "city": ["Berlin", "Rome"]})

    whole = Tenant("alice", "cat-1").filter(asked)

    assert whole == AllOf(
        (
            Has("user_id", "alice"),
            Has("catalog_id", "cat-1"),
            Has("domain", "hr"),
            AnyOf((Has("city", "Berlin"), Has("city", "Rome"))),
        )
    )


@pytest.mark.parametrize("value", [["hr", "hr"], "hr"])
def test_filter_on_one_distinct_value_has_no_group(value: object) -> None:
    assert conditions({"domain": value}) == (Has("domain", "hr"),)


def test_true_and_one_are_different_values() -> None:
    assert conditions({"flag": [True, 1]}) == (AnyOf((Has("flag", True), Has("flag", 1))),)


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ("domain=hr", "must be an object"),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, "names 4 keys, at most 3"),
        ({"a": [1, 2, 3, 4, 5, 6]}, "'a' has 6 values, 1 to 5"),
        ({"a": []}, "'a' has 0 values, 1 to 5"),
        ({"a": {"equals": "b"}}, "'a' has the operator 'equals', possible are gte, gt"),
        ({"a": {}}, "'a' must have a bound or two"),
        ({"a": {"exists": "yes"}}, "'a' must have a bound or two"),
        ({"a": {"in": [1], "gte": 1}}, "'a' must have a bound or two"),
        ({"a": {"gte": 1, "gt": 1}}, "'a' has two bounds on one side"),
        ({"a": {"between": [1, 2], "lt": 1}}, "'a' has two bounds on one side"),
        ({"a": {"between": [1]}}, "'a' must have a list of two bounds"),
        ({"a": {"gte": True}}, "'a' must have bounds that are numbers or dates"),
        ({"user_id": {"exists": True}}, "may not name 'user_id'"),
        ({"a": ""}, "'a' must be text"),
        ({"a": "x" * 2049}, "'a' must be text of 1 to 2048"),
        ({"a": float("nan")}, "'a' must be text"),
        ({"a": "\ud800"}, "valid Unicode"),
        ({"k" * 101: "a"}, "keys must be text of 1 to 100"),
        ({7: "a"}, "keys must be text"),
        ({" User_ID ": "bob"}, "may not name ' User_ID '"),
        ({"x-amz-bedrock-kb-data-source-id": "X"}, "may not name 'x-amz-bedrock"),
    ],
)
def test_a_filter_out_of_bounds_is_refused_with_what_is_allowed(
    asked: object, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem.replace("(", r"\(")):
        conditions(asked)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
) | st.dictionaries(OPERATORS, st.booleans() | st.integers() | st.dates().map(str), max_size=2)
TYPES = known_types([frozenset({"domain:text", "city:list", "gte:number", "in:date"})])


@given(asked=st.dictionaries(KEYS, JSON, max_size=4))
def test_no_filter_reaches_another_tenants_passage(asked: object) -> None:
    foreign: dict[str, object] = {"user_id": "bob", "catalog_id": "cat-1", "domain": "hr"}
    foreign |= {"city": ["Rome"], "gte": 3, "in": "2026-03-01", "in_ts": 1772323200, "folder": []}

    try:
        whole = Tenant("alice", "cat-1").filter(resolve_types(conditions(asked), TYPES))
    except (ValueError, ValidationError):
        whole = Tenant("alice", "cat-1").filter()

    assert not matches(whole, foreign)


def test_a_member_is_asked_for_by_groups_of_at_most_five_each_of_them_once() -> None:
    groups = tuple(f"group {n}" for n in range(12))

    members = Member.of(Caller("bob", (*groups, "", "group 0")))

    assert [len(member.groups) for member in members] == [5, 5, 2]
    assert [group for member in members for group in member.groups] == list(groups)
    assert Member.of(Caller("bob")) == ()


def test_one_group_filters_without_any_of_and_conditions_are_added() -> None:
    [one], [two] = Member.of(Caller("bob", ("hr",))), Member.of(Caller("bob", ("hr", "it")))

    assert one.filter() == Lists("allowed_groups", "hr")
    assert two.filter(conditions({"city": "Rome", "allowed_groups": "board"})) == AllOf(
        (
            AnyOf((Lists("allowed_groups", "hr"), Lists("allowed_groups", "it"))),
            Has("city", "Rome"),
            Has("allowed_groups", "board"),
        )
    )


@pytest.mark.parametrize(
    ("shared", "seen"),
    [
        (["finance"], True),
        ("finance", True),  # should a store take it for a list of one
        (["Finance"], False),
        (["refinance", "finance, board"], False),
        ("refinance", False),
        ([["finance"]], False),
        (None, False),
    ],
)
def test_group_member_sees_only_passages_with_an_exactly_equal_group(
    shared: object, seen: bool
) -> None:
    attributes = {"user_id": "alice", "allowed_groups": shared}
    passage = Passage(text="", score=1, uri="s3://docs/alice/hr/plan.txt", attributes=attributes)
    [member] = Member.of(Caller("bob", ("finance", "staff")))

    def proven_passages() -> tuple[Passage, ...]:
        return member.proven([passage], catalog_of=lambda _: None)

    if seen:
        assert proven_passages() == (passage,)
    else:
        with pytest.raises(KnowledgeBaseUnavailable, match="outside the filter"):
            proven_passages()


@pytest.mark.parametrize(
    ("owner", "key"),
    [
        ("alice", "alicel/hr/plan.txt"),
        ("alice", "Alice/hr/plan.txt"),
        ("alice", "alice"),
        ("", "/hr/plan.txt"),
        ("!rejected", "!rejected/hr/plan.txt"),
        (None, "None/hr/plan.txt"),
        (["alice"], "alice/hr/plan.txt"),
    ],
)
def test_passage_shared_by_someone_who_does_not_own_it_is_withheld(
    owner: object, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    attributes = {"user_id": owner, "allowed_groups": ["finance"]}
    passage = Passage(text="", score=1, uri=f"s3://docs/{key}", attributes=attributes)
    [member] = Member.of(Caller("bob", ("finance",)))

    assert member.proven([passage], catalog_of=lambda _: None) == ()
    assert f"passages kept from 'bob': they are from ['s3://docs/{key}']" in caplog.text


GROUPS = st.lists(st.sampled_from(["hr", "it", "a,b", "Café"]) | st.text(), max_size=12)


@given(mine=GROUPS, theirs=GROUPS, asked=st.dictionaries(KEYS, JSON, max_size=4))
def test_no_filter_makes_a_member_of_a_group_that_the_token_does_not_name(
    mine: list[str], theirs: list[str], asked: object
) -> None:
    foreign = {"user_id": "alice", "allowed_groups": [each for each in theirs if each not in mine]}

    try:
        narrowed = resolve_types(conditions(asked), TYPES)
    except (ValueError, ValidationError):
        narrowed = ()

    for member in Member.of(Caller("bob", tuple(mine))):
        assert not matches(member.filter(narrowed), foreign)


def test_operator_accepts_only_the_origin_that_the_documents_id_proves() -> None:
    asked, other = (document_id_of("cat-1", name) for name in ("asked.txt", "other.txt"))
    base, attributes = FakeKnowledgeBase(), {"document_id": asked}
    for name, custom_id in (
        ("other.txt", other),
        ("other.txt", asked),
        ("asked.txt", None),
        ("asked.txt", other),
    ):
        base.put("text", filename=name, attributes=attributes, custom_id=custom_id)
    unproven = tuple(base.passages)
    proven = base.put("text", filename="asked.txt", attributes=attributes, custom_id=asked)

    operator = Operator()

    assert operator.origin_of(asked, unproven) is None
    assert operator.origin_of(asked, [*unproven, proven]) == Origin("cat-1", "asked.txt")
    assert operator.filter(asked) == Has("document_id", asked)


SHARED, OWN, CRAWLED, MALLORYS = "DSSHARED01", "DSALICES01", "DSCRAWLED1", "DSMALLORYS"


def placed(
    catalog_id: str, user: str, source: str | None, kind: DataSourceType = DataSourceType.CUSTOM
) -> Catalog:
    return a_catalog(
        user_id=user,
        catalog_id=catalog_id,
        s3_prefix=f"{user}/{catalog_id}/",
        knowledge_base_id="KB1",
        data_source_id=source,
        data_source_type=kind,
    )


CATALOGS = {
    each.catalog_id: each
    for each in (
        placed("cat-shared", "alice", SHARED),
        placed("cat-own", "alice", OWN),
        placed("cat-crawled", "alice", CRAWLED, DataSourceType.S3),
        placed("cat-unplaced", "alice", None),
        placed("cat-bob", "bob", SHARED),
        placed("cat-mallory", "mallory", MALLORYS),
    )
}


def a_passage(catalog_id: str = "cat-shared", source: str | None = SHARED, **told: Any) -> Passage:
    """
    Return a passage as our function ingests it, for which the store states only the data source.
    """
    attributes = {
        "user_id": "alice",
        "catalog_id": catalog_id,
        "document_id": document_id_of(catalog_id, "plan.txt"),
        "filename": "plan.txt",
        "allowed_groups": ["keepers"],
    }
    return replace(Passage(text="", score=1, data_source_id=source, attributes=attributes), **told)


def with_attributes(passage: Passage, **attributes: object) -> Passage:
    return replace(passage, attributes={**passage.attributes, **attributes})


def views(catalog_id: str) -> list[View]:
    """All by which a passage may be alice's."""
    [member] = Member.of(Caller("bob", ("keepers",)))
    return [Tenant("alice"), Tenant.of(CATALOGS[catalog_id]), member]


def is_shown(passage: Passage, view: View) -> bool:
    try:
        return view.proven([passage], catalog_of=CATALOGS.get) == (passage,)
    except KnowledgeBaseUnavailable:  # it is outside the filter
        return False


@pytest.mark.parametrize(("catalog_id", "source"), [("cat-shared", SHARED), ("cat-own", OWN)])
def test_passage_is_proven_by_recorded_data_source_and_our_own_id(
    catalog_id: str, source: str
) -> None:
    passage = a_passage(catalog_id, source)

    shown = [is_shown(passage, view) for view in views(catalog_id)]

    assert shown == [True, True, True]
    assert is_shown(passage, Leftovers.of(CATALOGS[catalog_id]))


DOCUMENT = document_id_of("cat-shared", "plan.txt")
URI = "s3://docs/alice/cat-shared/plan.txt"


@pytest.mark.parametrize(
    "told",
    [
        {"custom_id": DOCUMENT},
        {"custom_id": DOCUMENT, "data_source_id": None},
        {"custom_id": DOCUMENT, "uri": URI},
        {"uri": URI},
        {"uri": URI, "data_source_id": None},
    ],
    ids=str,
)
def test_stated_source_is_sufficient_proof(told: dict[str, Any]) -> None:
    passage = a_passage(**told)

    assert all(is_shown(passage, view) for view in views("cat-shared"))
    assert is_shown(passage, Leftovers.of(CATALOGS["cat-shared"]))


UNPROVEN = {
    "no source at all": a_passage(source=None),
    "the data source of another's catalog": a_passage(source=MALLORYS),
    "the data source of another of hers": a_passage(source=OWN),
    "a data source that is no catalog's": a_passage(source="DSSTRANGER"),
    "a data source by another spelling": a_passage(source=SHARED.lower()),
    "crawled, and its object isn't told": a_passage("cat-crawled", CRAWLED),
    "of a catalog that was never placed": a_passage("cat-unplaced", None),
    "of a catalog that is gone": a_passage("cat-gone"),
    "of another's catalog": a_passage("cat-bob"),
    "of another's catalog, by the data source": with_attributes(
        a_passage("cat-mallory", MALLORYS), catalog_id="cat-shared", document_id=DOCUMENT
    ),
    "the id of another file": with_attributes(
        a_passage(), document_id=document_id_of("cat-shared", "other.txt")
    ),
    "the id of another catalog's file": with_attributes(
        a_passage(), document_id=document_id_of("cat-bob", "plan.txt")
    ),
    "another file's name": with_attributes(a_passage(), filename="other.txt"),
    "another catalog of hers": with_attributes(a_passage(), catalog_id="cat-own"),
    "an id in a list": with_attributes(a_passage(), document_id=[DOCUMENT]),
    "the right id, and another's data source": a_passage(source=MALLORYS, custom_id=DOCUMENT),
    "the right id, and another data source of hers": a_passage(source=OWN, custom_id=DOCUMENT),
    "another id that is told": a_passage(custom_id=document_id_of("cat-bob", "plan.txt")),
    "another's object beside the right id": a_passage(
        custom_id=DOCUMENT, uri="s3://docs/mallory/cat-m/plan.txt"
    ),
    "another id beside the right object": a_passage(custom_id="doc-x", uri=URI),
}


@pytest.mark.parametrize("passage", UNPROVEN.values(), ids=UNPROVEN)
def test_passage_with_insufficient_proof_is_hidden_from_everybody(passage: Passage) -> None:
    shown = [is_shown(passage, view) for view in views("cat-shared")]

    assert shown == [False, False, False]
    assert not is_shown(passage, Leftovers.of(CATALOGS["cat-shared"]))


@given(
    source=st.sampled_from([SHARED, OWN, CRAWLED, MALLORYS, None]),
    catalog_id=st.sampled_from([*CATALOGS, "cat-gone"]),
    named=st.sampled_from([*CATALOGS, "cat-gone"]),
    filename=st.sampled_from(["plan.txt", "other.txt"]),
)
def test_foreign_document_is_never_shown_whatever_its_sidecar_says(
    source: str | None, catalog_id: str, named: str, filename: str
) -> None:
    """A sidecar may say anything; the object, or the data source, is another's all the same."""
    said = with_attributes(
        a_passage(catalog_id, source),
        document_id=document_id_of(named, filename),
        filename=filename,
    )
    crawled = replace(said, uri="s3://docs/mallory/cat-mallory/own.txt")
    ingested = replace(said, data_source_id=MALLORYS)

    shown = [is_shown(each, view) for each in (crawled, ingested) for view in views("cat-shared")]

    assert shown == [False] * 6
