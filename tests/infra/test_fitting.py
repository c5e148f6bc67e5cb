"""What a deployment says of a context's budget is what its functions know."""

import aws_cdk as cdk
import pytest

from functions.catalog_tools.handler import CatalogToolsSettings
from functions.retrieve.handler import RetrieveSettings
from infra.fitting import MOST_TOKENS, PRIORITIES, Fitting
from stackroom.aws.settings import FittingSettings
from stackroom.retrieval import budget
from stackroom.retrieval.budget import Budget, Priority
from tests.infra.test_app import RIGHT


def test_every_priority_and_the_largest_budget_are_known_to_both() -> None:
    assert tuple(Priority) == PRIORITIES
    assert MOST_TOKENS == budget.MOST_TOKENS


@pytest.mark.parametrize("settings", [RetrieveSettings, CatalogToolsSettings])
def test_a_function_reads_what_the_context_says(settings: type[FittingSettings]) -> None:
    asked = {"retrieve_max_tokens": "1200", "retrieve_prioritize_by": "recency"}
    app = cdk.App(context={**RIGHT, **asked})

    variables = Fitting.from_context(app).environment

    assert {each.upper() for each in FittingSettings.model_fields} == variables.keys()
    assert issubclass(settings, FittingSettings)
    assert FittingSettings.from_env(variables).budget == Budget(
        max_tokens=1200, prioritize_by=Priority.RECENCY
    )


def test_without_a_word_both_do_the_same() -> None:
    variables = Fitting.from_context(cdk.App(context=RIGHT)).environment

    assert FittingSettings.from_env(variables) == FittingSettings.from_env({})
