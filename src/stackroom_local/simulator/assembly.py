"""The simulator's parts put together, and which of them answers which operation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from stackroom_local.simulator.clock import Clock
from stackroom_local.simulator.data_source_deletions import Deletions
from stackroom_local.simulator.data_sources import DataSources
from stackroom_local.simulator.direct import Direct, DirectCalls
from stackroom_local.simulator.dispatch import Dispatcher, Handler
from stackroom_local.simulator.documents import Documents
from stackroom_local.simulator.embedding import Embedder, MiniLM
from stackroom_local.simulator.faults import Faults
from stackroom_local.simulator.generation import Generation
from stackroom_local.simulator.identifiers import ClientTokens, Place
from stackroom_local.simulator.indexing import Indexing
from stackroom_local.simulator.ingestion_jobs import IngestionJobs
from stackroom_local.simulator.job_runs import JobRuns
from stackroom_local.simulator.knowledge_bases import KnowledgeBases
from stackroom_local.simulator.models import Models
from stackroom_local.simulator.objects import Objects, S3Objects, connect
from stackroom_local.simulator.parsing import ChildParser, Parser
from stackroom_local.simulator.quotas import Quotas
from stackroom_local.simulator.records import Records
from stackroom_local.simulator.retrieval import Retrieval
from stackroom_local.simulator.store import Store
from stackroom_local.simulator.vector_buckets import VectorBuckets
from stackroom_local.simulator.vectors import StoredVectors, Vectors
from stackroom_local.simulator.wire import Front


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """`speed` is how many AWS seconds pass in a real one; `s3_endpoint` has the documents."""

    data_dir: Path
    s3_endpoint: str
    speed: float = 1.0
    region: str = "us-east-1"
    account: str = "000000000000"
    faults: Faults = field(default_factory=Faults)


class Ground:
    """What the services stand on."""

    def __init__(
        self,
        *,
        clock: Clock,
        store: Store,
        place: Place,
        objects: Objects,
        parser: Parser,
        embedder: Embedder,
        vectors: Callable[[Records], Vectors],
        faults: Faults | None = None,
    ) -> None:
        self.clock = clock
        self.store = store
        self.place = place
        self.tokens = ClientTokens(store=store, clock=clock)
        self.records = Records(store=store, clock=clock)
        self.embedder = embedder
        self.vectors = vectors(self.records)
        self.faults = faults or Faults()
        self.indexing = Indexing(
            store=store,
            records=self.records,
            vectors=self.vectors,
            objects=objects,
            parser=parser,
            embedder=embedder,
            faults=self.faults,
        )


class Services:
    """Every operation, over one ground; `close` ends what is under way."""

    def __init__(self, ground: Ground) -> None:
        calls = DirectCalls()
        self._ground = ground
        self._runs = JobRuns(store=ground.store, clock=ground.clock, indexing=ground.indexing)
        self._direct = _direct(ground, calls)
        handlers = {
            **_resource_handlers(ground),
            **_job_handlers(ground, calls, self._runs),
            **_document_handlers(ground, self._direct),
            **_runtime_handlers(ground),
            **_vector_handlers(ground),
        }
        self._runs.resume()
        ground.records.resume()
        self.dispatcher = Dispatcher(
            Quotas(ground.clock), handlers, clock=ground.clock, faults=ground.faults
        )

    def close(self) -> None:
        self._ground.clock.stop()
        self._runs.close()
        self._direct.close()


def create_app(configuration: Configuration) -> Front:
    """An ASGI application; what was under way when the last one ended is put in order first."""
    clock = Clock(configuration.speed)
    store = Store(configuration.data_dir / "simulator.sqlite")
    embedder, parser = MiniLM(), ChildParser()
    services = Services(
        Ground(
            clock=clock,
            store=store,
            place=Place(account=configuration.account, region=configuration.region),
            objects=S3Objects(partial(connect, configuration.s3_endpoint, configuration.region)),
            parser=parser,
            embedder=embedder,
            vectors=lambda records: StoredVectors(store, clock, records, embedder),
            faults=configuration.faults,
        )
    )
    embedder.warm()

    def close() -> None:
        services.close()
        parser.close()
        store.close()

    return Front(services.dispatcher, faults=configuration.faults, close=close)


def _direct(ground: Ground, calls: DirectCalls) -> Direct:
    return Direct(
        store=ground.store,
        clock=ground.clock,
        tokens=ground.tokens,
        calls=calls,
        indexing=ground.indexing,
    )


def _resource_handlers(ground: Ground) -> Mapping[str, Handler]:
    deletions = Deletions(store=ground.store, clock=ground.clock, vectors=ground.vectors)
    sources = DataSources(
        store=ground.store,
        clock=ground.clock,
        tokens=ground.tokens,
        deletions=deletions,
        faults=ground.faults,
    )
    bases = KnowledgeBases(
        store=ground.store,
        clock=ground.clock,
        place=ground.place,
        tokens=ground.tokens,
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
    }


def _job_handlers(ground: Ground, calls: DirectCalls, runs: JobRuns) -> Mapping[str, Handler]:
    jobs = IngestionJobs(
        store=ground.store, clock=ground.clock, tokens=ground.tokens, direct=calls, runs=runs
    )
    return {
        "bedrock-agent.StartIngestionJob": jobs.start,
        "bedrock-agent.GetIngestionJob": jobs.get,
        "bedrock-agent.ListIngestionJobs": jobs.list,
        "bedrock-agent.StopIngestionJob": jobs.stop,
    }


def _document_handlers(ground: Ground, direct: Direct) -> Mapping[str, Handler]:
    documents = Documents(store=ground.store, records=ground.records)
    return {
        "bedrock-agent.GetKnowledgeBaseDocuments": documents.get,
        "bedrock-agent.ListKnowledgeBaseDocuments": documents.list,
        "bedrock-agent.IngestKnowledgeBaseDocuments": direct.ingest,
        "bedrock-agent.DeleteKnowledgeBaseDocuments": direct.delete,
    }


def _runtime_handlers(ground: Ground) -> Mapping[str, Handler]:
    retrieval = Retrieval(store=ground.store, vectors=ground.vectors, embedder=ground.embedder)
    generation = Generation(retrieval=retrieval, embedder=ground.embedder)
    return {
        "bedrock-agent-runtime.Retrieve": retrieval.retrieve,
        "bedrock-agent-runtime.RetrieveAndGenerate": generation.answer,
        "bedrock-runtime.InvokeModel": Models(embedder=ground.embedder).invoke,
    }


def _vector_handlers(ground: Ground) -> Mapping[str, Handler]:
    buckets = VectorBuckets(
        store=ground.store,
        clock=ground.clock,
        place=ground.place,
        forget_index=ground.vectors.forget_index,
    )
    return {
        "s3vectors.CreateVectorBucket": buckets.create_bucket,
        "s3vectors.GetVectorBucket": buckets.get_bucket,
        "s3vectors.ListVectorBuckets": buckets.list_buckets,
        "s3vectors.DeleteVectorBucket": buckets.delete_bucket,
        "s3vectors.CreateIndex": buckets.create_index,
        "s3vectors.GetIndex": buckets.get_index,
        "s3vectors.ListIndexes": buckets.list_indexes,
        "s3vectors.DeleteIndex": buckets.delete_index,
    }
