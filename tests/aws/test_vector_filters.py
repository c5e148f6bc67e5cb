"""Filters in the words of S3 Vectors, and what is left to look at in the answer."""

import pytest

from stackroom.aws.vector_filters import is_listed, rendered
from stackroom.errors import SearchRefused
from stackroom.filters import Has, any_of
from stackroom.identity import Caller
from stackroom.narrowing import conditions
from stackroom.tenancy import Member, Tenant


def test_a_tenant_is_one_condition() -> None:
    assert rendered(Tenant("alice").filter()) == {"user_id": {"$eq": "alice"}}


def test_what_is_asked_for_is_added_to_the_tenant_and_never_replaces_it() -> None:
    asked = conditions({"city": ["Rome", "Paris"], "year": 2026, "current": True})

    assert rendered(Tenant("alice", "cat-1").filter(asked)) == {
        "$and": [
            {"user_id": {"$eq": "alice"}},
            {"catalog_id": {"$eq": "cat-1"}},
            {"$or": [{"city": {"$eq": "Rome"}}, {"city": {"$eq": "Paris"}}]},
            {"year": {"$eq": 2026}},
            {"current": {"$eq": True}},
        ]
    }


def test_a_members_groups_are_elements_of_a_list() -> None:
    [member] = Member.of(Caller("dora", ("finance", "board")))

    assert rendered(member.filter()) == {
        "$or": [{"allowed_groups": {"$eq": "finance"}}, {"allowed_groups": {"$eq": "board"}}]
    }


@pytest.mark.parametrize("key", ["$or", "$and", "$eq", "$"])
def test_a_key_that_would_be_an_operator_is_no_filter(key: str) -> None:
    asked = Tenant("alice").filter(conditions({key: "x"}))

    with pytest.raises(SearchRefused, match=r"a filter on a key that begins with \$"):
        rendered(asked)


@pytest.mark.parametrize(
    ("shared", "expected"),
    [
        (["finance"], True),
        (["staff", "board"], True),
        ("finance", False),
        ("finance, board", False),
        (["Finance"], False),
        ([], False),
        (None, False),
    ],
)
def test_only_a_list_lists(shared: object, expected: bool) -> None:
    [member] = Member.of(Caller("dora", ("finance", "board")))
    asked = member.filter(conditions({"city": "Rome"}))

    assert is_listed(asked, {"allowed_groups": shared, "city": "Rome"}) is expected


def test_of_anything_else_the_stores_word_stands() -> None:
    assert is_listed(any_of([Has("city", "Rome"), Has("city", "Paris")]), {"city": "Oslo"})
