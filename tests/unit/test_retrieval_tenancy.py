"""The one filter of a search: who calls, AND what they asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackroom.errors import KnowledgeBaseUnavailable
from stackroom.filters import AllOf, AnyOf, Has, Lists
from stackroom.identity import Caller
from stackroom.keys import document_id_of
from stackroom.narrowing import conditions
from stackroom.origins import Origin
from stackroom.ports.retrieval import Passage
from stackroom.tenancy import Member, Operator, Tenant
from tests.fakes.knowledge_base import FakeKnowledgeBase, matches

KEYS = st.sampled_from(["user_id", "catalog_id", "orAll", "equals", "domain", "city"]) | st.text()


def test_what_was_asked_is_added_to_the_tenant_and_never_replaces_it() -> None:
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


def test_the_largest_filter_stays_within_five_by_five() -> None:
    asked = conditions({key: ["a", "b", "c", "d", "e"] for key in ("x", "y", "z")})

    whole = Tenant("alice", "cat-1").filter(asked)

    assert isinstance(whole, AllOf)
    assert len(whole.conditions) == 5
    assert max(len(group.choices) for group in whole.conditions if isinstance(group, AnyOf)) == 5


@pytest.mark.parametrize("value", [["hr", "hr"], "hr"])
def test_one_distinct_value_needs_no_group(value: object) -> None:
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
        ({"a": {"equals": "b"}}, "'a' must be text"),
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
)


@given(asked=st.dictionaries(KEYS, JSON, max_size=4))
def test_no_filter_whatever_it_says_reaches_another_tenants_passage(asked: object) -> None:
    foreign = {"user_id": "bob", "catalog_id": "cat-1", "domain": "hr", "city": ["Rome"]}

    try:
        whole = Tenant("alice", "cat-1").filter(conditions(asked))
    except ValueError:
        whole = Tenant("alice", "cat-1").filter()

    assert not matches(whole, foreign)


def test_a_member_is_asked_for_by_groups_of_at_most_five_each_of_them_once() -> None:
    groups = tuple(f"group {n}" for n in range(12))

    members = Member.of(Caller("bob", (*groups, "", "group 0")))

    assert [len(member.groups) for member in members] == [5, 5, 2]
    assert [group for member in members for group in member.groups] == list(groups)
    assert Member.of(Caller("bob")) == ()


def test_one_group_needs_no_group_of_filters_and_what_was_asked_is_added_to_it() -> None:
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
def test_a_member_is_shown_what_names_a_group_of_theirs_to_the_character(
    shared: object, seen: bool
) -> None:
    attributes = {"user_id": "alice", "allowed_groups": shared}
    passage = Passage(text="", score=1, uri="s3://docs/alice/hr/plan.txt", attributes=attributes)
    [member] = Member.of(Caller("bob", ("finance", "staff")))

    def look() -> tuple[Passage, ...]:
        return member.proven([passage], catalog_of=lambda _: None)

    if seen:
        assert look() == (passage,)
    else:
        with pytest.raises(KnowledgeBaseUnavailable, match="outside the filter"):
            look()


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
def test_what_says_it_is_shared_by_somebody_whose_it_is_not_is_kept_from_a_member(
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
        narrowed = conditions(asked)
    except ValueError:
        narrowed = ()

    for member in Member.of(Caller("bob", tuple(mine))):
        assert not matches(member.filter(narrowed), foreign)


def test_an_operator_believes_of_a_document_what_its_own_id_proves_and_nothing_else() -> None:
    asked, other = (document_id_of("cat-1", name) for name in ("asked.txt", "other.txt"))
    shelf, attributes = FakeKnowledgeBase(), {"document_id": asked}
    for name, custom_id in (
        ("other.txt", other),
        ("other.txt", asked),
        ("asked.txt", None),
        ("asked.txt", other),
    ):
        shelf.put("text", filename=name, attributes=attributes, custom_id=custom_id)
    unproven = tuple(shelf.passages)
    proven = shelf.put("text", filename="asked.txt", attributes=attributes, custom_id=asked)

    operator = Operator()

    assert operator.origin_of(asked, unproven) is None
    assert operator.origin_of(asked, [*unproven, proven]) == Origin("cat-1", "asked.txt")
    assert operator.filter(asked) == Has("document_id", asked)
