"""How questions to a catalog are answered, as the settings have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from stackroom.aws.deployment import Deployment
    from stackroom.retrieval.cited import CatalogAnswers
    from stackroom.retrieval.search import Retrieval


def answering_of(deployment: Deployment, retrieval: Callable[[], Retrieval]) -> CatalogAnswers:
    """`retrieval` makes the search, for the way that writes from what it finds."""
    if deployment.settings.need("answer_via") == "retrieve_and_generate":
        return _by_the_stores(deployment)
    from stackroom.aws.converse import ConverseWriter
    from stackroom.retrieval.answers import Answering

    writer = ConverseWriter(
        deployment.client("writing"),
        model_arn=deployment.settings.need("answer_model_arn"),
        prompt=deployment.settings.need("answer_prompt"),
        guardrail=getattr(deployment.settings, "guardrail", None),
    )
    return Answering(retrieval=retrieval(), writer=writer)


def _by_the_stores(deployment: Deployment) -> CatalogAnswers:
    from stackroom.aws.knowledge_bases import answerers_of_pool, answers_of_pool
    from stackroom.retrieval.place_cache import PlaceMapCache
    from stackroom.retrieval.store_answers import StoreAnswering

    return StoreAnswering(
        pool=answerers_of_pool(deployment),
        answers=answers_of_pool(deployment),
        documents=deployment.staying_documents,
        place_maps=PlaceMapCache(deployment.place_maps),
        min_score=deployment.settings.need("retrieve_min_score"),
    )
