"""A filter finds the same in every store, or less with a notice; never more."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stackroom.access.identity import Caller
from stackroom.access.search_filter_argument import conditions
from stackroom.access.tenancy import Member, Tenant
from stackroom.errors import KnowledgeBaseUnavailable, SearchRefused
from stackroom.model.filters import (
    AllOf,
    AnyOf,
    Compares,
    Comparison,
    Exists,
    Filter,
    Has,
    Lists,
)
from stackroom.model.passages import KnowledgeBase
from tests.contract.stores.document_sets import DOCS, found
from tests.fakes.knowledge_base import matches

# What alice asks for of her own, and what she finds.
OF_ALICE: list[tuple[dict[str, object], set[str]]] = [
    ({"city": ["Rome", "Paris"]}, {"alice/rome.txt", "alice/paris.txt"}),
    ({"city": ["Rome", "Paris"], "year": 2026}, {"alice/paris.txt"}),
    ({"year": 2025}, {"alice/rome.txt"}),
    ({"year": "2025"}, set()),
    ({"current": True}, {"alice/paris.txt"}),
    ({"current": 1}, set()),
    ({"taxonomy": "law"}, {"alice/berlin.txt"}),
    ({"taxonomy": ["law", "hr"]}, {"alice/berlin.txt", "alice/rome.txt"}),
    ({"unknown": "x"}, set()),
    ({"year": {"gte": 2026}}, {"alice/berlin.txt", "alice/paris.txt"}),
    ({"year": {"gt": 2024, "lt": 2026}}, {"alice/rome.txt"}),
    ({"year": {"between": [2025, 2026]}, "city": "Rome"}, {"alice/rome.txt"}),
    ({"city": {"in": ["Rome", "Paris"]}, "year": {"lte": 2025}}, {"alice/rome.txt"}),
    ({"folder": "plans/2026"}, {"alice/berlin.txt"}),
    ({"folder": "plans"}, {"alice/berlin.txt", "alice/rome.txt"}),
    ({"folder": "pl"}, set()),
    (
        {key: {"between": [0, 3000]} for key in ("year", "rank", "uploaded_ts")},
        {"alice/berlin.txt"},
    ),
    (
        {key: ["Rome", "hr", 2025, "x", "y"] for key in ("city", "year", "taxonomy")},
        {"alice/rome.txt"},
    ),
]
# What those in these groups ask for, and what they find.
OF_MEMBERS: list[tuple[tuple[str, ...], dict[str, object], set[str]]] = [
    (("finance",), {}, {"carol/budget.txt"}),
    (("staff", "board", "財務"), {}, {"carol/budget.txt", "carol/names.txt"}),
    (("Forschung, Köln",), {}, {"carol/names.txt"}),
    (("Finance", "fin", "Forschung", "Köln", "finance, board"), {}, set()),
    (("finance", "財務"), {"city": ["Rome", "Oslo"]}, {"carol/budget.txt"}),
    (("finance", "財務"), {"allowed_groups": "board"}, {"carol/budget.txt"}),
    (("staff",), {"allowed_groups": ["finance", "board"]}, set()),
    (("finance",), {"user": "carol"}, set()),
    (("staff",), {}, set()),
]
# Each comparison at its bound, what might be taken for an operator, and lists that are none.
CONDITIONS: dict[str, Filter] = {
    "the same number as a fraction": Has("year", 2026.0),
    "an empty text": Has("city", ""),
    "in a list": Lists("taxonomy", "hr"),
    "an attribute that is there": Exists("year", is_there=True),
    "an attribute that is not there": Exists("year", is_there=False),
    "a list that is there": Exists("taxonomy", is_there=True),
    "an attribute that nobody has": Exists("unknown", is_there=False),
    "an attribute that somebody has": Exists("unknown", is_there=True),
    "true that is there": Exists("current", is_there=True),
    "a text that is no list": Lists("city", "Rome"),
    "a quote in a value": Has("city", "Rome' OR '1'='1"),
    "a quote in a key": Has("city'] OR 1=1 --", "Rome"),
    "an operator for a key": Has("$or", "Rome"),
    "a wildcard of SQL": Has("city", "R%"),
    "any of two, of which one is no list": AnyOf(
        (Has("city", "Oslo"), Lists("allowed_groups", "staff"))
    ),
    "any of two, of which one is excluded from a list": AnyOf(
        (Has("city", "Oslo"), Compares("taxonomy", Comparison.NOT_EQUALS, "law"))
    ),
    "two in one list": AllOf(
        (Lists("allowed_groups", "finance"), Lists("allowed_groups", "board"))
    ),
    "notEquals": Compares("city", Comparison.NOT_EQUALS, "Rome"),
    "notEquals of a list": Compares("taxonomy", Comparison.NOT_EQUALS, "law"),
    "greaterThan": Compares("year", Comparison.GREATER, 2025),
    "greaterThanOrEquals": Compares("year", Comparison.GREATER_OR_EQUAL, 2026),
    "lessThan": Compares("year", Comparison.LESS, 2026),
    "lessThanOrEquals": Compares("year", Comparison.LESS_OR_EQUAL, 2025),
    "greaterThan of a text": Compares("city", Comparison.GREATER, 0),
    "in": Compares("city", Comparison.IN, ("Rome", "Paris")),
    "in, of a list": Compares("taxonomy", Comparison.IN, ("law", "tax")),
    "notIn": Compares("city", Comparison.NOT_IN, ("Rome", "Paris")),
    "notIn, of a list": Compares("taxonomy", Comparison.NOT_IN, ("law",)),
    "startsWith": Compares("city", Comparison.STARTS_WITH, "R"),
    "startsWith a wildcard": Compares("city", Comparison.STARTS_WITH, "%"),
    "stringContains": Compares("city", Comparison.STRING_CONTAINS, "om"),
    "contains a wildcard": Compares("city", Comparison.STRING_CONTAINS, "_"),
}


def found_or_refused(knowledge_base: KnowledgeBase, condition: Filter) -> set[str] | None:
    """Return the found documents, or None for a filter that the store can't express."""
    try:
        return found(knowledge_base, condition)
    except (SearchRefused, KnowledgeBaseUnavailable):
        return None


def meant(condition: Filter) -> set[str]:
    return {each.name for each in DOCS.documents if matches(condition, each.attributes)}


def test_a_filter_means_the_same_everywhere(docs: KnowledgeBase) -> None:
    told = [
        (asked, found(docs, Tenant("alice").filter(conditions(asked)))) for asked, _ in OF_ALICE
    ]

    assert told == OF_ALICE


def test_group_search_finds_only_passages_that_list_one_of_the_groups(
    docs: KnowledgeBase,
) -> None:
    told = []
    for groups, asked, _ in OF_MEMBERS:
        [member] = Member.of(Caller("dora", groups))
        told.append((groups, asked, found(docs, member.filter(conditions(asked)))))

    assert told == OF_MEMBERS


def test_filter_finds_exactly_the_matching_documents_or_is_refused(docs: KnowledgeBase) -> None:
    let_through = {name: found_or_refused(docs, each) for name, each in CONDITIONS.items()}

    wrong = {
        name: each
        for name, each in let_through.items()
        if each is not None and each != meant(CONDITIONS[name])
    }
    assert wrong == {}
    # A refusal is for good: it is not that the store is down.
    assert len(found(docs, None)) == len(DOCS.documents)


KEYS = st.sampled_from(
    ("allowed_groups", "city", "current", "taxonomy", "unknown", "user_id", "year")
)
TEXTS = st.sampled_from(("Rome", "Ro", "rome", "hr", "law", "finance", "staff", "alice", "2026"))
NUMBERS = st.sampled_from((2024, 2025, 2025.5, 2026, 0, -1))
VALUES = st.one_of(TEXTS, NUMBERS, st.booleans())
SEVERAL = st.lists(VALUES, min_size=1, max_size=4, unique_by=repr).map(tuple)
OF_NUMBERS = (
    Comparison.GREATER,
    Comparison.GREATER_OR_EQUAL,
    Comparison.LESS,
    Comparison.LESS_OR_EQUAL,
)
OF_TEXTS = (Comparison.STARTS_WITH, Comparison.STRING_CONTAINS)
SINGLE = st.one_of(
    st.builds(Has, KEYS, VALUES),
    st.builds(Lists, KEYS, TEXTS),
    st.builds(Exists, KEYS, st.booleans()),
    st.builds(Compares, KEYS, st.just(Comparison.NOT_EQUALS), VALUES),
    st.builds(Compares, KEYS, st.sampled_from((Comparison.IN, Comparison.NOT_IN)), SEVERAL),
    st.builds(Compares, KEYS, st.sampled_from(OF_NUMBERS), NUMBERS),
    st.builds(Compares, KEYS, st.sampled_from(OF_TEXTS), TEXTS),
)


def groups(members: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    several = st.lists(members, min_size=2, max_size=4).map(tuple)
    return st.one_of(several.map(AnyOf), several.map(AllOf))


@settings(
    max_examples=30,
    derandomize=True,
    # What is searched stays as it is, whatever was asked before.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(condition=st.recursive(SINGLE, groups, max_leaves=6))
def test_generated_filter_returns_exactly_what_it_means_or_is_refused(
    docs: KnowledgeBase, condition: Filter
) -> None:
    assert found_or_refused(docs, condition) in (meant(condition), None)
