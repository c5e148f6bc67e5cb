"""
From settings to the use cases that several functions, the CLI and the local mode have in common; of
one function alone, its handler makes it.

A use case that is asked for is made once, with the adapters of app/adapters.py, and its package
imported then; so a function pays for what it uses. Where a new one belongs: in its handler, or a
property here, or in app/run_use_cases.py if a run's tasks call it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from stackroom.app.adapters import Deployment
from stackroom.app.run_use_cases import RunUseCases

if TYPE_CHECKING:
    from collections.abc import Callable

    from stackroom.agents.agents import Agents
    from stackroom.agents.available import AvailableKnowledgeBases
    from stackroom.agents.chats import Chats
    from stackroom.agents.links import Links
    from stackroom.agents.runs import Runs as AgentRuns
    from stackroom.app.function_settings import Settings
    from stackroom.catalogs.browsing import Browsing
    from stackroom.catalogs.creation import Creation
    from stackroom.catalogs.deletions import Deletions
    from stackroom.catalogs.event_log import EventLog
    from stackroom.catalogs.feedback import FeedbackKeeping
    from stackroom.catalogs.listing import Listing
    from stackroom.catalogs.metering import Metering
    from stackroom.catalogs.overview import Operations
    from stackroom.catalogs.progress import Progress
    from stackroom.catalogs.publishing import Publishing
    from stackroom.catalogs.reading import TextReading
    from stackroom.catalogs.selection import Selection
    from stackroom.catalogs.transfers import Fetching, Sending
    from stackroom.model.questions import QuestionMeter
    from stackroom.runs.estimates import Estimates
    from stackroom.runs.retries import Retrying
    from stackroom.search.cached_embeddings import CacheTally
    from stackroom.search.cited_answers import Answering
    from stackroom.search.document_passages import DocumentPassages
    from stackroom.search.metered import MeteredRetrieval
    from stackroom.search.search import Retrieval
    from stackroom.uploads.reconcile import Uploads


class UseCases(RunUseCases):
    @classmethod
    def of(
        cls,
        settings: Settings,
        client: Callable[[str], Any],
        *,
        cache_tally: CacheTally | None = None,
    ) -> Self:
        deployment = Deployment(settings=settings, client=client, cache_tally=cache_tally)
        return cls(deployment=deployment)

    @cached_property
    def uploads(self) -> Uploads:
        from stackroom.uploads.reconcile import Uploads

        return Uploads(
            catalogs=self.deployment.register,
            documents=self.deployment.documents,
            bucket=self.deployment.bucket,
            receipts=self.deployment.receipts,
            inspections=self.deployment.inspections,
        )

    @cached_property
    def retrieval(self) -> Retrieval:
        from stackroom.search.excerpts import PlaceMapCache
        from stackroom.search.names import NamedDocuments
        from stackroom.search.search import Retrieval
        from stackroom.search.search_arguments import Budget

        need = self.deployment.settings.need
        budget = Budget(
            max_tokens=need("retrieve_max_tokens"), prioritize_by=need("retrieve_prioritize_by")
        )
        ids = [member.knowledge_base_id for member in self.deployment.pool]
        return Retrieval(
            pool={each: self.deployment.knowledge_base(each) for each in ids},
            # The control table is for opening catalogs; a search only reads them.
            catalogs=self.deployment.catalogs,
            documents=self.deployment.staying_documents,
            place_maps=PlaceMapCache(self.deployment.texts),
            min_score=need("retrieve_least_score"),
            budget=budget,
            # Who asks one catalog of the caller's has no use for the setting.
            sharing=getattr(self.deployment.settings, "retrieve_sharing", "off") == "on",
            uri_of=self.deployment.bucket.uri_of,
            named=NamedDocuments(self.deployment.document_names, self.deployment.catalogs),
        )

    @cached_property
    def document_passages(self) -> DocumentPassages:
        from stackroom.search.document_passages import DocumentPassages

        return DocumentPassages(
            pool=self.retrieval.pool,
            catalogs=self.deployment.catalogs,
            documents=self.deployment.documents,
            place_maps=self.deployment.texts,
        )

    @cached_property
    def answering(self) -> Answering:
        from stackroom.aws.bedrock.converse import ConverseWriter
        from stackroom.search.cited_answers import Answering

        settings = self.deployment.settings
        writer = ConverseWriter(
            self.deployment.client("writing"),
            model_arn=settings.need("answer_model_arn"),
            prompt=settings.need("answer_prompt"),
            guardrail=getattr(settings, "guardrail", None),
        )
        return Answering(retrieval=self.retrieval, writer=writer, meter=self.question_meter)

    @cached_property
    def metered_retrieval(self) -> MeteredRetrieval:
        from stackroom.search.metered import MeteredRetrieval

        return MeteredRetrieval(retrieval=self.retrieval, meter=self.question_meter)

    @cached_property
    def question_meter(self) -> QuestionMeter:
        from stackroom.model.questions import QuestionMeter

        there = self.deployment
        return QuestionMeter(usage=there.usage, book=there.caps, watch=self.cap_watch)

    @cached_property
    def retrying(self) -> Retrying:
        from stackroom.runs.retries import Retrying

        return Retrying(
            catalogs=self.deployment.catalogs,
            documents=self.deployment.documents,
            requests=self.requests,
        )

    @cached_property
    def deletions(self) -> Deletions:
        from stackroom.catalogs.deletions import Deletions

        return Deletions(
            catalogs=self.deployment.catalogs,
            documents=self.deployment.documents,
            bucket=self.deployment.bucket,
            receipts=self.deployment.receipts,
            uploads=self.uploads,
            requests=self.requests,
        )

    @cached_property
    def creation(self) -> Creation:
        from stackroom.catalogs.creation import Creation

        return Creation(catalogs=self.deployment.register)

    @cached_property
    def listing(self) -> Listing:
        from stackroom.catalogs.listing import Listing

        return Listing(catalogs=self.deployment.register, pages=self.deployment.documents)

    @cached_property
    def browsing(self) -> Browsing:
        from stackroom.catalogs.browsing import Browsing

        return Browsing(
            catalogs=self.deployment.register,
            documents=self.deployment.documents,
            names=self.deployment.document_names,
        )

    @cached_property
    def selection(self) -> Selection:
        from stackroom.catalogs.selection import Selection

        return Selection(catalogs=self.deployment.catalogs, selections=self.deployment.selections)

    @cached_property
    def feedback(self) -> FeedbackKeeping:
        from stackroom.catalogs.feedback import FeedbackKeeping

        return FeedbackKeeping(catalogs=self.deployment.catalogs, book=self.deployment.feedback)

    @cached_property
    def metering(self) -> Metering:
        from stackroom.catalogs.metering import Metering

        there = self.deployment
        return Metering(usage=there.usage, book=there.caps, catalogs=there.register)

    @cached_property
    def events(self) -> EventLog:
        from stackroom.catalogs.event_log import EventLog

        return EventLog(book=self.deployment.events)

    @cached_property
    def publishing(self) -> Publishing:
        from stackroom.catalogs.publishing import Publishing

        return Publishing(
            log=self.events,
            bus=self.deployment.event_bus,
            webhooks=self.deployment.webhooks,
            queue=self.deployment.webhook_queue,
        )

    @cached_property
    def sending(self) -> Sending:
        from stackroom.catalogs.transfers import Sending

        return Sending(
            catalogs=self.deployment.catalogs,
            documents=self.deployment.documents,
            bucket=self.deployment.bucket,
            transfers=self.deployment.transfers,
        )

    @cached_property
    def fetching(self) -> Fetching:
        from stackroom.catalogs.transfers import Fetching

        return Fetching(
            catalogs=self.deployment.catalogs,
            documents=self.deployment.documents,
            transfers=self.deployment.transfers,
        )

    @cached_property
    def reading(self) -> TextReading:
        from stackroom.catalogs.reading import TextReading
        from stackroom.text.extraction.apart import read_pages_apart

        return TextReading(
            catalogs=self.deployment.catalogs,
            documents=self.deployment.documents,
            files=self.deployment.files,
            texts=self.deployment.texts,
            extract=read_pages_apart,
        )

    @cached_property
    def agents(self) -> Agents:
        from stackroom.agents.agents import Agents, Models

        settings = self.deployment.settings
        allowed: tuple[str, ...] = settings.need("agent_models")
        arn: str = settings.need("answer_model_arn")  # of it the id, as Converse takes it
        usual = allowed[0] if allowed else arn.rpartition("/")[2]
        return Agents(book=self.deployment.agents, models=Models(usual=usual, allowed=allowed))

    @cached_property
    def agent_links(self) -> Links:
        from stackroom.agents.links import Links

        return Links(agents=self.agents, available=self.available_knowledge_bases)

    @cached_property
    def agent_runs(self) -> AgentRuns:
        """Of users' agents; `runs` are those of ingestions."""
        from stackroom.agents.runs import Runs as AgentRuns

        return AgentRuns(
            agents=self.agents,
            book=self.deployment.agent_runs,
            chats=self.deployment.chats,
            queue=self.deployment.agent_run_queue,
        )

    @cached_property
    def chats(self) -> Chats:
        from stackroom.agents.chats import Chats

        return Chats(
            agents=self.agents, book=self.deployment.chats, runs=self.deployment.agent_runs
        )

    @cached_property
    def available_knowledge_bases(self) -> AvailableKnowledgeBases:
        from stackroom.agents.available import AvailableKnowledgeBases
        from stackroom.app.shared_settings import shared_of

        settings = self.deployment.settings
        return AvailableKnowledgeBases(
            catalogs=self.deployment.catalogs,
            shared=shared_of(settings.need("knowledge_bases_config")),
        )

    @cached_property
    def operations(self) -> Operations:
        from stackroom.catalogs.overview import Backlogs, Operations, Pool

        return Operations(
            backlogs=Backlogs(
                inventory=self.deployment.inventory,
                documents=self.deployment.documents,
                estimates=self.estimates,
            ),
            pool=Pool(
                members=self.deployment.pool,
                slots=self.deployment.slots,
                book=self.deployment.admission_book,
            ),
            receipts=self.deployment.receipts,
            boards=self.deployment.boards,
            runs=self.deployment.executions,
            metering=self.metering,
            pace=self._pace,
        )

    @cached_property
    def progress(self) -> Progress:
        from stackroom.catalogs.progress import Progress

        return Progress(catalogs=self.deployment.catalogs, estimates=self.estimates)

    @cached_property
    def estimates(self) -> Estimates:
        from stackroom.runs.estimates import Estimates

        return Estimates(
            documents=self.deployment.documents,
            leases=self.deployment.leases,
            book=self.deployment.admission_book,
            worklists=self.deployment.worklists,
            limits=self.limits,
            pace=self._pace,
        )
