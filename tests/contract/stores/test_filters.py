"""What a filter lets through: the same in every store, or less and said so; never more."""

import pytest

from stackroom.errors import KnowledgeBaseUnavailable, SearchRefused
from stackroom.filters import AllOf, AnyOf, Compares, Comparison, Filter, Has, Lists
from stackroom.identity import Caller
from stackroom.narrowing import conditions
from stackroom.ports.retrieval import KnowledgeBase
from stackroom.tenancy import Member, Tenant
from tests.contract.stores.shelves import DOCS, QUESTION
from tests.fakes.knowledge_base import matches

LARGE = conditions({key: ["a", "Rome", 3, 4.5, True] for key in ("city", "x", "y")})


def found(knowledge_base: KnowledgeBase, condition: Filter | None) -> set[str]:
    passages = knowledge_base.retrieve(QUESTION, condition, 10).passages
    return {
        f"{passage.attributes['user_id']}/{passage.attributes['filename']}" for passage in passages
    }


def found_or_refused(knowledge_base: KnowledgeBase, condition: Filter) -> set[str] | None:
    """None for a filter that the store can't express."""
    try:
        return found(knowledge_base, condition)
    except (SearchRefused, KnowledgeBaseUnavailable):
        return None


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"city": "Rome"}, {"alice/rome.txt"}),
        ({"city": ["Rome", "Paris"]}, {"alice/rome.txt", "alice/paris.txt"}),
        ({"city": ["Rome", "Paris"], "year": 2026}, {"alice/paris.txt"}),
        ({"year": 2025}, {"alice/rome.txt"}),
        ({"year": "2025"}, set()),
        ({"current": True}, {"alice/paris.txt"}),
        ({"current": 1}, set()),
        ({"taxonomy": "law"}, {"alice/berlin.txt"}),
        ({"taxonomy": ["law", "hr"]}, {"alice/berlin.txt", "alice/rome.txt"}),
        ({"unknown": "x"}, set()),
        (
            {key: ["Rome", "hr", 2025, "x", "y"] for key in ("city", "year", "taxonomy")},
            {"alice/rome.txt"},
        ),
    ],
)
def test_a_filter_means_the_same_everywhere(
    docs: KnowledgeBase, asked: dict[str, object], expected: set[str]
) -> None:
    assert found(docs, Tenant("alice").filter(conditions(asked))) == expected


@pytest.mark.parametrize(
    "condition",
    [
        pytest.param(Has("year", 2026), id="a number"),
        pytest.param(Has("year", 2026.0), id="the same number as a fraction"),
        pytest.param(Has("city", "rome"), id="another case"),
        pytest.param(Has("city", ""), id="an empty text"),
        pytest.param(Has("taxonomy", "hr"), id="one of a list"),
        pytest.param(Lists("taxonomy", "hr"), id="in a list"),
        pytest.param(Lists("city", "Rome"), id="a text that is no list"),
        pytest.param(Lists("year", "2026"), id="a number that is no list"),
        pytest.param(Has("current", False), id="a boolean that nothing has"),
        pytest.param(Has("city", "Rome' OR '1'='1"), id="a quote in a value"),
        pytest.param(Has("city'] OR 1=1 --", "Rome"), id="a quote in a key"),
        pytest.param(Has("$or", "Rome"), id="an operator for a key"),
        pytest.param(Has("metadata.city", "Rome"), id="a path for a key"),
        pytest.param(Has("city", "R*"), id="a wildcard"),
        pytest.param(Has("city", "R%"), id="a wildcard of SQL"),
        pytest.param(AnyOf((Has("city", "Rome"), Lists("taxonomy", "law"))), id="any of two kinds"),
        pytest.param(
            AnyOf((Has("city", "Oslo"), Lists("allowed_groups", "staff"))),
            id="any of two, of which one is no list",
        ),
        pytest.param(
            AnyOf((Has("city", "Oslo"), Compares("taxonomy", Comparison.NOT_EQUALS, "law"))),
            id="any of two, of which one is excluded from a list",
        ),
        pytest.param(
            AllOf((Has("city", "Rome"), AnyOf((Has("year", 2025), Has("user_id", "carol"))))),
            id="any of two in all of two",
        ),
        pytest.param(
            AllOf((Lists("allowed_groups", "finance"), Lists("allowed_groups", "board"))),
            id="two in one list",
        ),
        pytest.param(
            AnyOf((AllOf((Has("city", "Rome"), Has("year", 2025))), Has("city", "Berlin"))),
            id="all of two in any of two",
        ),
        pytest.param(Compares("city", Comparison.NOT_EQUALS, "Rome"), id="notEquals"),
        pytest.param(Compares("taxonomy", Comparison.NOT_EQUALS, "law"), id="notEquals of a list"),
        pytest.param(Compares("year", Comparison.GREATER, 2025), id="greaterThan"),
        pytest.param(Compares("year", Comparison.GREATER_OR_EQUAL, 2026), id="greaterThanOrEquals"),
        pytest.param(Compares("year", Comparison.LESS, 2026), id="lessThan"),
        pytest.param(Compares("year", Comparison.LESS_OR_EQUAL, 2025.5), id="lessThanOrEquals"),
        pytest.param(Compares("city", Comparison.GREATER, 0), id="greaterThan of a text"),
        pytest.param(Compares("city", Comparison.IN, ("Rome", "Paris")), id="in"),
        pytest.param(Compares("taxonomy", Comparison.IN, ("law", "tax")), id="in, of a list"),
        pytest.param(Compares("city", Comparison.NOT_IN, ("Rome", "Paris")), id="notIn"),
        pytest.param(Compares("taxonomy", Comparison.NOT_IN, ("law",)), id="notIn, of a list"),
        pytest.param(Compares("city", Comparison.STARTS_WITH, "R"), id="startsWith"),
        pytest.param(Compares("city", Comparison.STARTS_WITH, "%"), id="startsWith a wildcard"),
        pytest.param(Compares("city", Comparison.STRING_CONTAINS, "om"), id="stringContains"),
        pytest.param(Compares("city", Comparison.STRING_CONTAINS, "_"), id="contains a wildcard"),
        pytest.param(
            AllOf((Has("user_id", "alice"), Compares("year", Comparison.NOT_IN, (2025, 2024)))),
            id="a comparison in all of two",
        ),
    ],
)
def test_a_filter_lets_through_what_it_says_or_is_refused(
    docs: KnowledgeBase, condition: Filter
) -> None:
    meant = {each.name for each in DOCS.documents if matches(condition, each.attributes)}

    let_through = found_or_refused(docs, condition)

    # A refusal is for good: it is not that the store is down.
    assert let_through in (meant, None)
    assert len(found(docs, None)) == len(DOCS.documents)


@pytest.mark.parametrize(
    ("groups", "asked", "expected"),
    [
        (["finance"], {}, {"carol/budget.txt"}),
        (["staff", "board", "財務"], {}, {"carol/budget.txt", "carol/names.txt"}),
        (["Forschung, Köln"], {}, {"carol/names.txt"}),
        (["a", "b", "c", "d", "finance"], {}, {"carol/budget.txt"}),
        (["Finance", "fin", "Forschung", "Köln", "finance, board"], {}, set()),
        (["finance", "財務"], {"city": ["Rome", "Oslo"]}, {"carol/budget.txt"}),
        (["finance", "財務"], {"allowed_groups": "board"}, {"carol/budget.txt"}),
        (["staff"], {"allowed_groups": ["finance", "board"]}, set()),
        (["finance"], {"user": "carol"}, set()),
        (["staff"], {}, set()),
    ],
)
def test_a_members_groups_find_what_lists_one_of_them_and_nothing_else(
    docs: KnowledgeBase, groups: list[str], asked: dict[str, object], expected: set[str]
) -> None:
    [member] = Member.of(Caller("dora", tuple(groups)))

    assert found(docs, member.filter(conditions(asked))) == expected


def test_the_largest_filter_of_a_member_is_one_that_is_taken(docs: KnowledgeBase) -> None:
    [member] = Member.of(Caller("dora", ("finance", "b", "c", "d", "e")))

    assert found(docs, member.filter(LARGE)) == set()
