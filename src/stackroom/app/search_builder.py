"""Retrieval and answers."""

from functools import cached_property

from stackroom.app.pool_builder import PoolBuilder
from stackroom.aws.bedrock.converse import ConverseWriter
from stackroom.aws.dynamodb.document_names import DynamoDocumentNames, DynamoStayingDocuments
from stackroom.model.questions import QuestionMeter
from stackroom.search.budget import Budget
from stackroom.search.cited_answers import Answering
from stackroom.search.excerpts import PlaceMapCache
from stackroom.search.metered import MeteredRetrieval
from stackroom.search.names import NamedDocuments
from stackroom.search.search import Retrieval


class SearchBuilder(PoolBuilder):
    @cached_property
    def document_names(self) -> DynamoDocumentNames:
        return DynamoDocumentNames(client=self._dynamodb, table=self._catalog_table)

    @cached_property
    def retrieval(self) -> Retrieval:
        need = self.settings.need
        budget = Budget(
            max_tokens=need("retrieve_max_tokens"), prioritize_by=need("retrieve_prioritize_by")
        )
        ids = [member.knowledge_base_id for member in self.pool]
        return Retrieval(
            pool={each: self.knowledge_base(each) for each in ids},
            # The control table is for opening catalogs; a search only reads them.
            catalogs=self.catalogs,
            documents=DynamoStayingDocuments(client=self._dynamodb, table=self._catalog_table),
            place_maps=PlaceMapCache(self.texts),
            min_score=need("retrieve_least_score"),
            budget=budget,
            # A function that asks one catalog of the caller's has no use for the setting.
            sharing=getattr(self.settings, "retrieve_sharing", "off") == "on",
            uri_of=self.bucket.uri_of,
            named=NamedDocuments(self.document_names, self.catalogs),
        )

    @cached_property
    def metered_retrieval(self) -> MeteredRetrieval:
        return MeteredRetrieval(retrieval=self.retrieval, meter=self.question_meter)

    @cached_property
    def answering(self) -> Answering:
        settings = self.settings
        writer = ConverseWriter(
            self.client("writing"),
            model_arn=settings.need("answer_model_arn"),
            prompt=settings.need("answer_prompt"),
            guardrail=getattr(settings, "guardrail", None),
        )
        return Answering(retrieval=self.retrieval, writer=writer, meter=self.question_meter)

    @cached_property
    def question_meter(self) -> QuestionMeter:
        return QuestionMeter(usage=self.usage, book=self.caps, watch=self.cap_watch)
