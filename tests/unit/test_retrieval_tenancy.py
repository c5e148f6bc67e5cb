"""The one filter of a search: who calls, AND what they asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackroom.filters import AllOf, AnyOf, Has
from stackroom.keys import document_id_of
from stackroom.origins import Origin
from stackroom.tenancy import Operator, Tenant, conditions
from tests.fakes.knowledge_base import FakeKnowledgeBase, matches

KEYS = st.sampled_from(["user_id", "catalog_id", "orAll", "equals", "domain", "city"]) | st.text()


def test_the_caller_alone_is_a_condition_without_a_group() -> None:
    assert Tenant("alice").filter() == Has("user_id", "alice")


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


@pytest.mark.parametrize("value", [["hr"], ["hr", "hr"], "hr"])
def test_one_distinct_value_needs_no_group(value: object) -> None:
    assert conditions({"domain": value}) == (Has("domain", "hr"),)


def test_true_and_one_are_different_values() -> None:
    assert conditions({"flag": [True, 1]}) == (AnyOf((Has("flag", True), Has("flag", 1))),)


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ("domain=hr", "must be an object"),
        ([{"domain": "hr"}], "must be an object"),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, "names 4 keys, at most 3"),
        ({"a": [1, 2, 3, 4, 5, 6]}, "'a' has 6 values, 1 to 5"),
        ({"a": []}, "'a' has 0 values, 1 to 5"),
        ({"a": {"equals": "b"}}, "'a' must be text"),
        ({"a": [["b"]]}, "'a' must be text"),
        ({"a": None}, "'a' must be text"),
        ({"a": ""}, "'a' must be text"),
        ({"a": "x" * 2049}, "'a' must be text of 1 to 2048"),
        ({"a": float("nan")}, "'a' must be text"),
        ({"a": "\ud800"}, "valid Unicode"),
        ({"": "a"}, "keys must be text of 1 to 100"),
        ({"k" * 101: "a"}, "keys must be text of 1 to 100"),
        ({7: "a"}, "keys must be text"),
        ({"user_id": "bob"}, "may not name 'user_id'"),
        ({" User_ID ": "bob"}, "may not name ' User_ID '"),
        ({"catalog_id": ["cat-1"]}, "may not name 'catalog_id'"),
        ({"x-amz-bedrock-kb-data-source-id": "X"}, "may not name 'x-amz-bedrock"),
        ({"orAll": [{"equals": {"key": "user_id", "value": "bob"}}]}, "'orAll' must be text"),
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
