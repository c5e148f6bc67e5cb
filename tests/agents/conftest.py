"""The tools of both surfaces in one world, where no execution moves by itself."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

import functions.catalog_tools.handler as function
from stackroom.aws import session
from tests.agents.twins import Twins

# F401: fixtures are found by their names here.
from tests.functions.conftest import clients, environment, pipeline, printed  # noqa: F401
from tests.functions.pipeline import Pipeline
from tests.functions.tools import Tools

MODEL = "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0"


@dataclass(frozen=True, kw_only=True)
class Surfaces:
    """Of two users, so that neither finds what the other made: their names are of one length."""

    gateway: Tools
    in_process: Tools


@pytest.fixture
def surfaces(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> Iterator[Surfaces]:  # noqa: F811
    monkeypatch.setenv("ANSWER_MODEL_ARN", MODEL)
    function.use_cases.cache_clear()
    with pipeline.bedrock.answering(session.client("writing")):
        yield Surfaces(
            gateway=Tools(pipeline=pipeline, user="gates"),
            in_process=Twins(pipeline=pipeline, user="twins"),
        )
    function.use_cases.cache_clear()
