"""The simulator as a whole: its services, and the application that serves them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bedrock_kb_simulator import fault_orders, own_s3, rules, scripts
from bedrock_kb_simulator.access_keys import RootKey
from bedrock_kb_simulator.assumptions import Assumptions
from bedrock_kb_simulator.aws_clock import Clock
from bedrock_kb_simulator.bucket_objects import Objects, S3Objects, connect
from bedrock_kb_simulator.converse import Conversations, Speaking
from bedrock_kb_simulator.converse_requests import Requests
from bedrock_kb_simulator.data_sources import DataSources, Deletions
from bedrock_kb_simulator.direct import Direct, DirectCalls
from bedrock_kb_simulator.dispatcher import Dispatcher, Handler
from bedrock_kb_simulator.document_records import Documents, Records
from bedrock_kb_simulator.embedder import Embedder, MiniLM
from bedrock_kb_simulator.faults import Faults
from bedrock_kb_simulator.generation import Generation
from bedrock_kb_simulator.guardrails import Guardrails
from bedrock_kb_simulator.identifiers import Arns, ClientTokens
from bedrock_kb_simulator.indexing import Drafts, Indexing
from bedrock_kb_simulator.ingestion_jobs import IngestionJobs, JobRuns
from bedrock_kb_simulator.knowledge_bases import KnowledgeBases
from bedrock_kb_simulator.memory_indexes import MemoryIndexes
from bedrock_kb_simulator.metadata import of_vector
from bedrock_kb_simulator.model_endpoint import ModelEndpoint
from bedrock_kb_simulator.models import Availability, Models
from bedrock_kb_simulator.orders import Answer
from bedrock_kb_simulator.parsing import ChildParser, Parser
from bedrock_kb_simulator.passage_search import Reranking, Retrieval
from bedrock_kb_simulator.request_rates import Quotas, rates_of
from bedrock_kb_simulator.screening import GuardrailApplication, Screening
from bedrock_kb_simulator.scripts import Scripts
from bedrock_kb_simulator.signatures import Signatures
from bedrock_kb_simulator.stand_in import Extraction, StandIn
from bedrock_kb_simulator.store import Store
from bedrock_kb_simulator.tagging import Tagging, Tags
from bedrock_kb_simulator.text_search import TextSearches
from bedrock_kb_simulator.vector_indexes import VectorBuckets, VectorIndexes
from bedrock_kb_simulator.vector_items import VectorItems, VectorQueries
from bedrock_kb_simulator.vectors import StoredVectors, Vectors
from bedrock_kb_simulator.wire import Front


class Components:
    """What is kept, read, embedded and searched with; a benchmark brings others of its own."""

    def __init__(
        self,
        *,
        clock: Clock,
        store: Store,
        arns: Arns,
        objects: Objects,
        parser: Parser,
        embedder: Embedder,
        vectors: Callable[[MemoryIndexes], Vectors],
        faults: Faults | None = None,
        model: ModelEndpoint | None = None,
        scripts: Scripts | None = None,
        assumptions: Assumptions | None = None,
    ) -> None:
        self.clock = clock
        self.store = store
        self.arns = arns
        self.tokens = ClientTokens(store=store, clock=clock)
        self.records = Records(store=store, clock=clock)
        self.embedder = embedder
        self.parser = parser
        self.memory_indexes = MemoryIndexes(store)
        self.assumptions = assumptions or Assumptions()
        self.own = of_vector(self.assumptions)
        self.text_searches = TextSearches(store, clock, self.own)
        self.vectors = vectors(self.memory_indexes)
        self.faults = faults or Faults()
        self.model = model
        self.scripts = scripts or Scripts()
        self.indexing = Indexing(
            store=store,
            records=self.records,
            vectors=self.vectors,
            drafts=Drafts(objects=objects, parser=parser),
            embedder=embedder,
            faults=self.faults,
            own=self.own,
        )


# Which part of the simulator answers which operation of AWS.


def handlers_of(
    components: Components, *, calls: DirectCalls, runs: JobRuns, direct: Direct
) -> dict[str, Handler]:
    """By service and operation; what a restart interrupted is put in order before."""
    return {
        **_resource_handlers(components),
        **_job_handlers(components, calls, runs),
        **_document_handlers(components, direct),
        **_runtime_handlers(components),
        **_guardrail_handlers(components),
        **_vector_handlers(components),
    }


def _resource_handlers(components: Components) -> Mapping[str, Handler]:
    deletions = Deletions(
        store=components.store, clock=components.clock, vectors=components.vectors
    )
    sources = DataSources(
        store=components.store,
        clock=components.clock,
        tokens=components.tokens,
        deletions=deletions,
        faults=components.faults,
    )
    bases = KnowledgeBases(
        store=components.store,
        clock=components.clock,
        arns=components.arns,
        tokens=components.tokens,
        tags=Tags(store=components.store, most=rules.TAGS),
        delete_data_sources=deletions.of_knowledge_base,
    )
    bases.resume()
    sources.resume()
    deletions.resume()
    return {
        "bedrock-agent.CreateKnowledgeBase": bases.create,
        "bedrock-agent.GetKnowledgeBase": bases.get,
        "bedrock-agent.ListKnowledgeBases": bases.list,
        "bedrock-agent.UpdateKnowledgeBase": bases.update,
        "bedrock-agent.DeleteKnowledgeBase": bases.delete,
        "bedrock-agent.CreateDataSource": sources.create,
        "bedrock-agent.GetDataSource": sources.get,
        "bedrock-agent.ListDataSources": sources.list,
        "bedrock-agent.UpdateDataSource": sources.update,
        "bedrock-agent.DeleteDataSource": sources.delete,
        **Tagging(tags=bases.tags, find=bases.find).handlers("bedrock-agent"),
    }


def _job_handlers(
    components: Components, calls: DirectCalls, runs: JobRuns
) -> Mapping[str, Handler]:
    jobs = IngestionJobs(
        store=components.store,
        clock=components.clock,
        tokens=components.tokens,
        direct=calls,
        runs=runs,
        assumptions=components.assumptions,
    )
    return {
        "bedrock-agent.StartIngestionJob": jobs.start,
        "bedrock-agent.GetIngestionJob": jobs.get,
        "bedrock-agent.ListIngestionJobs": jobs.list,
        "bedrock-agent.StopIngestionJob": jobs.stop,
    }


def _document_handlers(components: Components, direct: Direct) -> Mapping[str, Handler]:
    documents = Documents(store=components.store, records=components.records)
    return {
        "bedrock-agent.GetKnowledgeBaseDocuments": documents.get,
        "bedrock-agent.ListKnowledgeBaseDocuments": documents.list,
        "bedrock-agent.IngestKnowledgeBaseDocuments": direct.ingest,
        "bedrock-agent.DeleteKnowledgeBaseDocuments": direct.delete,
    }


def _runtime_handlers(components: Components) -> Mapping[str, Handler]:
    screening = Screening(store=components.store, embedder=components.embedder)
    reranking = Reranking(embedder=components.embedder)
    retrieval = Retrieval(
        store=components.store,
        clock=components.clock,
        vectors=components.vectors,
        embedder=components.embedder,
        screening=screening,
        reranking=reranking,
        assumptions=components.assumptions,
        own=components.own,
    )
    extraction = Extraction(embedder=components.embedder, own=components.own)
    availability = Availability(arns=components.arns)
    generation = Generation(
        store=components.store,
        clock=components.clock,
        retrieval=retrieval,
        screening=screening,
        extraction=extraction,
        model=components.model,
    )
    return {
        "bedrock-agent-runtime.Retrieve": retrieval.retrieve,
        "bedrock-agent-runtime.RetrieveAndGenerate": generation.answer,
        "bedrock-agent-runtime.RetrieveAndGenerateStream": generation.stream,
        "bedrock-agent-runtime.Rerank": reranking.rerank,
        "bedrock.GetFoundationModelAvailability": availability.of_model,
        "bedrock.GetInferenceProfile": availability.of_profile,
        **model_handlers(components, screening, extraction),
    }


def _guardrail_handlers(components: Components) -> Mapping[str, Handler]:
    guardrails = Guardrails(
        store=components.store,
        clock=components.clock,
        arns=components.arns,
        tokens=components.tokens,
        tags=Tags(store=components.store, most=rules.GUARDRAIL_TAGS),
    )
    tagging = Tagging(tags=guardrails.tags, find=guardrails.find, arn="resourceARN", pairs=True)
    return {
        "bedrock.CreateGuardrail": guardrails.create,
        "bedrock.GetGuardrail": guardrails.get,
        "bedrock.ListGuardrails": guardrails.list,
        "bedrock.UpdateGuardrail": guardrails.update,
        "bedrock.DeleteGuardrail": guardrails.delete,
        "bedrock.CreateGuardrailVersion": guardrails.create_version,
        **tagging.handlers("bedrock"),
    }


def _vector_handlers(components: Components) -> Mapping[str, Handler]:
    store, clock, searches = components.store, components.clock, components.text_searches
    tags = Tags(store=store, most=rules.VECTOR_TAGS)
    buckets = VectorBuckets(store=store, clock=clock, arns=components.arns, tags=tags)
    indexes = VectorIndexes(
        buckets=buckets,
        searches=searches,
        forget_index=components.vectors.forget_index,
    )
    memory, own = components.memory_indexes, components.own
    items = VectorItems(store=store, clock=clock, indexes=indexes, memory=memory, own=own)
    queries = VectorQueries(
        store=store, clock=clock, indexes=indexes, searches=searches, memory=memory, own=own
    )
    return {
        "s3vectors.CreateVectorBucket": buckets.create,
        "s3vectors.GetVectorBucket": buckets.get,
        "s3vectors.ListVectorBuckets": buckets.list,
        "s3vectors.DeleteVectorBucket": buckets.delete,
        "s3vectors.PutVectorBucketDefaultIndexMode": buckets.put_default_mode,
        "s3vectors.PutVectorBucketPolicy": buckets.put_policy,
        "s3vectors.GetVectorBucketPolicy": buckets.get_policy,
        "s3vectors.DeleteVectorBucketPolicy": buckets.delete_policy,
        "s3vectors.CreateIndex": indexes.create,
        "s3vectors.GetIndex": indexes.get,
        "s3vectors.ListIndexes": indexes.list,
        "s3vectors.DeleteIndex": indexes.delete,
        "s3vectors.UpdateIndexMode": indexes.update_mode,
        "s3vectors.UpdateMetadataConfiguration": indexes.update_metadata_configuration,
        "s3vectors.PutVectors": items.put,
        "s3vectors.GetVectors": items.get,
        "s3vectors.ListVectors": items.list,
        "s3vectors.DeleteVectors": items.delete,
        "s3vectors.QueryVectors": queries.query,
        **Tagging(tags=tags, find=indexes.find).handlers("s3vectors"),
    }


def model_handlers(
    components: Components, screening: Screening, extraction: Extraction
) -> Mapping[str, Handler]:
    """Models, and guardrails by themselves."""
    conversations = Conversations(
        screening=screening,
        speaking=Speaking(
            scripts=components.scripts,
            stand_in=StandIn(extraction=extraction),
            model=components.model,
        ),
        requests=Requests(parser=components.parser),
    )
    application = GuardrailApplication(screening=screening, arns=components.arns)
    return {
        "bedrock-runtime.ApplyGuardrail": application.apply,
        "bedrock-runtime.Converse": conversations.answer,
        "bedrock-runtime.ConverseStream": conversations.stream,
        "bedrock-runtime.InvokeModel": Models(embedder=components.embedder).invoke,
    }


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """
    `speed` is how many AWS seconds pass in a real one; `s3_endpoint` has the documents; where
    none is given, the server has an S3 itself (own_s3); `model`
    writes RetrieveAndGenerate's and Converse's answers, which are extracted without one; `scripts`
    come first. What is `mounted` answers at other paths than
    AWS's, by what they begin with. Where a `root_key` is given, each call must be signed with
    it or what follows from it.
    """

    data_dir: Path
    s3_endpoint: str | None = None
    speed: float = 1.0
    region: str = "us-east-1"
    account: str = "000000000000"
    faults: Faults = field(default_factory=Faults)
    model: ModelEndpoint | None = None
    scripts: Scripts = field(default_factory=Scripts)
    assumptions: Assumptions = field(default_factory=Assumptions)
    mounted: Mapping[str, Answer] = field(default_factory=dict)
    root_key: RootKey | None = None


class Services:
    """
    Every operation, over the same components; `close` ends what is under way. Those that somebody
    else answers `instead` are his.
    """

    def __init__(
        self, components: Components, instead: Mapping[str, Handler] | None = None
    ) -> None:
        calls = DirectCalls()
        self._components = components
        self._runs = JobRuns(
            store=components.store,
            clock=components.clock,
            indexing=components.indexing,
            at_a_time=components.assumptions.job_documents,
        )
        self._direct = _direct(components, calls)
        handlers = {
            **handlers_of(components, calls=calls, runs=self._runs, direct=self._direct),
            **(instead or {}),
        }
        self._runs.resume()
        components.records.resume()
        rates = rates_of(components.store, components.assumptions)
        self.dispatcher = Dispatcher(
            Quotas(components.clock, rates),
            handlers,
            clock=components.clock,
            faults=components.faults,
        )

    def close(self) -> None:
        self._components.clock.stop()
        self._runs.close()
        self._direct.close()


def create_app(configuration: Configuration, endpoint: str) -> Front:
    """
    An ASGI application, to be served there; what was under way when the last one ended is put in
    order first.
    """
    clock = Clock(configuration.speed)
    store = Store(configuration.data_dir / "simulator.sqlite")
    embedder, parser = MiniLM(), ChildParser()
    s3_endpoint = configuration.s3_endpoint or endpoint
    key = None if configuration.s3_endpoint else own_s3.KEY
    services = Services(
        Components(
            clock=clock,
            store=store,
            arns=Arns(account=configuration.account, region=configuration.region),
            objects=S3Objects(partial(connect, s3_endpoint, configuration.region, key)),
            parser=parser,
            embedder=embedder,
            vectors=lambda memory: StoredVectors(store, clock, embedder, memory),
            faults=configuration.faults,
            model=configuration.model,
            scripts=configuration.scripts,
            assumptions=configuration.assumptions,
        )
    )
    embedder.warm()

    def close() -> None:
        services.close()
        parser.close()
        store.close()

    return Front(
        services.dispatcher,
        mounted={
            fault_orders.PATH: partial(fault_orders.served, configuration.faults),
            scripts.PATH: partial(scripts.served, configuration.scripts),
            **configuration.mounted,
        },
        signatures=Signatures(root=configuration.root_key) if configuration.root_key else None,
        close=close,
        has_s3=configuration.s3_endpoint is None,
    )


def _direct(components: Components, calls: DirectCalls) -> Direct:
    return Direct(
        store=components.store,
        clock=components.clock,
        tokens=components.tokens,
        calls=calls,
        indexing=components.indexing,
        duration=components.assumptions.direct_seconds,
    )
