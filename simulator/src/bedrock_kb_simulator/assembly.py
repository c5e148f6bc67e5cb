"""The simulator as a whole: its services, and the application that serves them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bedrock_kb_simulator import builtin_s3, fault_orders, scripts
from bedrock_kb_simulator.access_keys import RootKey
from bedrock_kb_simulator.assumptions import Assumptions
from bedrock_kb_simulator.aws_clock import Clock
from bedrock_kb_simulator.bucket_objects import Objects, S3Objects, connect
from bedrock_kb_simulator.converse import Conversations
from bedrock_kb_simulator.data_sources import DataSources, Deletions
from bedrock_kb_simulator.direct_ingestion import Direct, DirectCalls
from bedrock_kb_simulator.dispatcher import Dispatcher, Handler
from bedrock_kb_simulator.document_records import DocumentRecords, Documents
from bedrock_kb_simulator.embedder import Embedder
from bedrock_kb_simulator.embedding_models import DEFAULT_MODEL, ModelName, embedder_of
from bedrock_kb_simulator.faults import Faults
from bedrock_kb_simulator.guardrails import Guardrails
from bedrock_kb_simulator.identifiers import Arns, ClientTokens
from bedrock_kb_simulator.indexing import DraftReader, Indexing
from bedrock_kb_simulator.ingestion_jobs import IngestionJobs, JobRuns
from bedrock_kb_simulator.knowledge_bases import KnowledgeBases
from bedrock_kb_simulator.memory_indexes import MemoryIndexes
from bedrock_kb_simulator.metadata import of_vector
from bedrock_kb_simulator.model_endpoint import ModelEndpoint
from bedrock_kb_simulator.models import Models
from bedrock_kb_simulator.orders import Answer
from bedrock_kb_simulator.parsing import ChildParser, Parser
from bedrock_kb_simulator.passage_search import Reranking, Retrieval
from bedrock_kb_simulator.re_embedding import STORE, re_embed
from bedrock_kb_simulator.request_rates import Quotas, managed_in
from bedrock_kb_simulator.screening import GuardrailApplication, Screening
from bedrock_kb_simulator.scripts import Scripts
from bedrock_kb_simulator.signatures import Signatures
from bedrock_kb_simulator.stand_in import Extraction, StandIn
from bedrock_kb_simulator.store import Store
from bedrock_kb_simulator.tagging import Tagging, Tags
from bedrock_kb_simulator.text_search import TextSearches
from bedrock_kb_simulator.textract import Textract
from bedrock_kb_simulator.vector_bucket_policies import CallersRights, caller_arn
from bedrock_kb_simulator.vector_indexes import VectorBuckets, VectorIndexes
from bedrock_kb_simulator.vector_items import VectorItems, VectorQueries
from bedrock_kb_simulator.vectors import StoredVectors, Vectors
from bedrock_kb_simulator.wire import Application


class Components:
    """The stores, readers, embedder and searches of a simulator; benchmarks replace some."""

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
        self.records = DocumentRecords(store=store, clock=clock)
        self.embedder = embedder
        self.parser = parser
        self.memory_indexes = MemoryIndexes(store)
        self.assumptions = assumptions or Assumptions()
        self.own_keys = of_vector(self.assumptions)
        self.text_searches = TextSearches(store, clock, self.own_keys)
        self.vectors = vectors(self.memory_indexes)
        self.faults = faults or Faults()
        self.model = model
        self.scripts = scripts or Scripts()
        self.indexing = Indexing(
            store=store,
            records=self.records,
            vectors=self.vectors,
            drafts=DraftReader(objects=objects, parser=parser),
            embedder=embedder,
            faults=self.faults,
            own_keys=self.own_keys,
        )


# The handler of each operation, by service and operation.


def _resource_handlers(parts: Components) -> Mapping[str, Handler]:
    """Return the handlers of resources; first settle what a restart interrupted."""
    store, clock, tokens = parts.store, parts.clock, parts.tokens
    deletions = Deletions(store=store, clock=clock, vectors=parts.vectors)
    sources = DataSources(
        store=store, clock=clock, tokens=tokens, deletions=deletions, faults=parts.faults
    )
    bases = KnowledgeBases(
        store=store,
        clock=clock,
        arns=parts.arns,
        tokens=tokens,
        tags=Tags(store=store),
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


def _ingestion_handlers(
    parts: Components, calls: DirectCalls, runs: JobRuns, direct: Direct
) -> Mapping[str, Handler]:
    jobs = IngestionJobs(
        store=parts.store,
        clock=parts.clock,
        tokens=parts.tokens,
        direct=calls,
        runs=runs,
    )
    documents = Documents(store=parts.store, records=parts.records)
    return {
        "bedrock-agent.StartIngestionJob": jobs.start,
        "bedrock-agent.GetIngestionJob": jobs.get,
        "bedrock-agent.ListIngestionJobs": jobs.list,
        "bedrock-agent.StopIngestionJob": jobs.stop,
        "bedrock-agent.GetKnowledgeBaseDocuments": documents.get,
        "bedrock-agent.ListKnowledgeBaseDocuments": documents.list,
        "bedrock-agent.IngestKnowledgeBaseDocuments": direct.ingest,
        "bedrock-agent.DeleteKnowledgeBaseDocuments": direct.delete,
    }


def _runtime_handlers(parts: Components) -> Mapping[str, Handler]:
    """Return the handlers of searches, models and ApplyGuardrail."""
    embedder = parts.embedder
    screening = Screening(store=parts.store, embedder=embedder)
    reranking = Reranking(embedder=embedder)
    retrieval = Retrieval(
        store=parts.store,
        clock=parts.clock,
        vectors=parts.vectors,
        embedder=embedder,
        screening=screening,
        reranking=reranking,
        own_keys=parts.own_keys,
    )
    conversations = Conversations(
        screening=screening,
        scripts=parts.scripts,
        stand_in=StandIn(extraction=Extraction(embedder=embedder)),
        model=parts.model,
    )
    application = GuardrailApplication(screening=screening, arns=parts.arns)
    return {
        "bedrock-agent-runtime.Retrieve": retrieval.retrieve,
        "bedrock-agent-runtime.Rerank": reranking.rerank,
        "bedrock-runtime.ApplyGuardrail": application.apply,
        "bedrock-runtime.Converse": conversations.answer,
        "bedrock-runtime.ConverseStream": conversations.stream,
        "bedrock-runtime.InvokeModel": Models(embedder=embedder).invoke,
        "textract.DetectDocumentText": Textract(parser=parts.parser).detect_document_text,
    }


def _guardrail_handlers(parts: Components) -> Mapping[str, Handler]:
    tags = Tags(store=parts.store)
    guardrails = Guardrails(
        store=parts.store, clock=parts.clock, arns=parts.arns, tokens=parts.tokens, tags=tags
    )
    tagging = Tagging(tags=tags, find=guardrails.find, arn="resourceARN", pairs=True)
    return {
        "bedrock.CreateGuardrail": guardrails.create,
        "bedrock.GetGuardrail": guardrails.get,
        "bedrock.ListGuardrails": guardrails.list,
        "bedrock.UpdateGuardrail": guardrails.update,
        "bedrock.DeleteGuardrail": guardrails.delete,
        "bedrock.CreateGuardrailVersion": guardrails.create_version,
        **tagging.handlers("bedrock"),
    }


def _vector_handlers(parts: Components) -> Mapping[str, Handler]:
    store, clock, searches = parts.store, parts.clock, parts.text_searches
    tags = Tags(store=store)
    buckets = VectorBuckets(store=store, clock=clock, arns=parts.arns, tags=tags)
    indexes = VectorIndexes(
        buckets=buckets, searches=searches, forget_index=parts.vectors.forget_index
    )
    memory, own_keys = parts.memory_indexes, parts.own_keys
    items = VectorItems(store=store, clock=clock, indexes=indexes, memory=memory, own_keys=own_keys)
    queries = VectorQueries(
        store=store,
        clock=clock,
        indexes=indexes,
        searches=searches,
        memory=memory,
        own_keys=own_keys,
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


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """
    The settings of a simulator.

    `speed` is the number of AWS seconds in a real one. `s3_endpoint` has the documents; without it
    the server provides an S3 itself (builtin_s3). Converse answers by `scripts` first, then by
    `model`, and without one by extraction. `mounted` handles paths that aren't AWS's, by their
    prefixes. With a `root_key`, each call must be signed with it or a key derived from it; with an
    `sts_endpoint`, which identifies the signer, vector bucket policies apply. `embedding` names the
    embedding model; passages of another model are embedded again at the start.
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
    sts_endpoint: str | None = None
    embedding: ModelName = DEFAULT_MODEL


class Services:
    """
    All operations, over the same components; `close` ends running work.

    Handlers in `instead` replace the simulator's own.
    """

    def __init__(self, parts: Components, instead: Mapping[str, Handler] | None = None) -> None:
        calls = DirectCalls()
        self._clock = parts.clock
        self._runs = JobRuns(
            store=parts.store,
            clock=parts.clock,
            indexing=parts.indexing,
            at_a_time=parts.assumptions.job_documents,
        )
        self._direct = Direct(
            store=parts.store,
            clock=parts.clock,
            tokens=parts.tokens,
            calls=calls,
            indexing=parts.indexing,
            duration=parts.assumptions.direct_seconds,
            pdf_duration=parts.assumptions.direct_pdf_seconds or parts.assumptions.direct_seconds,
        )
        handlers = {
            **_resource_handlers(parts),
            **_ingestion_handlers(parts, calls, self._runs, self._direct),
            **_runtime_handlers(parts),
            **_guardrail_handlers(parts),
            **_vector_handlers(parts),
            **(instead or {}),
        }
        self._runs.resume()
        parts.records.resume()
        quotas = Quotas(parts.clock, managed_in(parts.store))
        self.dispatcher = Dispatcher(quotas, handlers, clock=parts.clock, faults=parts.faults)

    def close(self) -> None:
        self._clock.stop()
        self._runs.close()
        self._direct.close()


def create_app(configuration: Configuration, endpoint: str) -> Application:
    """
    Return an ASGI application to serve at this endpoint.

    Work that the last application left unfinished is settled first.
    """
    clock = Clock(configuration.speed)
    store = Store(configuration.data_dir / STORE)
    embedder, parser = embedder_of(configuration.embedding), ChildParser()
    for _ in re_embed(store, embedder):
        pass
    s3_endpoint = configuration.s3_endpoint or endpoint
    key = None if configuration.s3_endpoint else builtin_s3.KEY
    arns = Arns(account=configuration.account, region=configuration.region)
    services = Services(
        Components(
            clock=clock,
            store=store,
            arns=arns,
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

    return Application(
        services.dispatcher,
        mounted={
            fault_orders.PATH: partial(fault_orders.respond, configuration.faults),
            scripts.PATH: partial(scripts.respond, configuration.scripts),
            **configuration.mounted,
        },
        signatures=Signatures(root=configuration.root_key) if configuration.root_key else None,
        rights=_rights(configuration, store, arns),
        close=close,
        has_s3=configuration.s3_endpoint is None,
    )


def _rights(configuration: Configuration, store: Store, arns: Arns) -> CallersRights | None:
    root, endpoint = configuration.root_key, configuration.sts_endpoint
    if root is None or endpoint is None:
        return None
    identity = partial(caller_arn, endpoint, configuration.region, root)
    return CallersRights(store=store, arns=arns, root=root, identity=identity)
