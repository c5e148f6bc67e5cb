"""Filters that nobody thought of: let through is what the fake lets through, or it is refused."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stackroom.filters import AllOf, AnyOf, Compares, Comparison, Filter, Has, Lists
from stackroom.ports.retrieval import KnowledgeBase
from tests.contract.stores.shelves import DOCS
from tests.contract.stores.test_filters import found_or_refused
from tests.fakes.knowledge_base import matches

KEYS = st.sampled_from(
    ("allowed_groups", "city", "current", "taxonomy", "unknown", "user_id", "year")
)
TEXTS = st.sampled_from(("Rome", "Ro", "rome", "hr", "law", "finance", "staff", "alice", "2026"))
NUMBERS = st.sampled_from((2024, 2025, 2025.5, 2026, 0, -1))
VALUES = st.one_of(TEXTS, NUMBERS, st.booleans())
SEVERAL = st.lists(VALUES, min_size=1, max_size=4, unique_by=repr).map(tuple)
SINGLE = st.one_of(
    st.builds(Has, KEYS, VALUES),
    st.builds(Lists, KEYS, TEXTS),
    st.builds(Compares, KEYS, st.just(Comparison.NOT_EQUALS), VALUES),
    st.builds(Compares, KEYS, st.sampled_from((Comparison.IN, Comparison.NOT_IN)), SEVERAL),
    st.builds(
        Compares,
        KEYS,
        st.sampled_from(
            (
                Comparison.GREATER,
                Comparison.GREATER_OR_EQUAL,
                Comparison.LESS,
                Comparison.LESS_OR_EQUAL,
            )
        ),
        NUMBERS,
    ),
    st.builds(
        Compares,
        KEYS,
        st.sampled_from((Comparison.STARTS_WITH, Comparison.STRING_CONTAINS)),
        TEXTS,
    ),
)


def groups(members: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    several = st.lists(members, min_size=2, max_size=4).map(tuple)
    return st.one_of(several.map(AnyOf), several.map(AllOf))


@settings(
    max_examples=40,
    derandomize=True,
    # What is searched stays as it is, whatever was asked before.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(condition=st.recursive(SINGLE, groups, max_leaves=6))
def test_any_filter_lets_through_what_it_says_or_is_refused(
    docs: KnowledgeBase, condition: Filter
) -> None:
    meant = {each.name for each in DOCS.documents if matches(condition, each.attributes)}

    assert found_or_refused(docs, condition) in (meant, None)
