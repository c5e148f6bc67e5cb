"""Which part of the simulator answers which operation of AWS."""

from collections.abc import Mapping

from bedrock_kb_simulator.availability import Availability
from bedrock_kb_simulator.components import Components
from bedrock_kb_simulator.data_source_deletions import Deletions
from bedrock_kb_simulator.data_sources import DataSources
from bedrock_kb_simulator.direct import Direct
from bedrock_kb_simulator.direct_calls import DirectCalls
from bedrock_kb_simulator.dispatch import Handler
from bedrock_kb_simulator.documents import Documents
from bedrock_kb_simulator.extraction import Extraction
from bedrock_kb_simulator.generation import Generation
from bedrock_kb_simulator.guardrails import Guardrails
from bedrock_kb_simulator.ingestion_jobs import IngestionJobs
from bedrock_kb_simulator.job_runs import JobRuns
from bedrock_kb_simulator.knowledge_bases import KnowledgeBases
from bedrock_kb_simulator.model_operations import model_handlers
from bedrock_kb_simulator.reranking import Reranking
from bedrock_kb_simulator.retrieval import Retrieval
from bedrock_kb_simulator.rules import GUARDRAIL_TAGS, TAGS, VECTOR_TAGS
from bedrock_kb_simulator.screening import Screening
from bedrock_kb_simulator.tagging import Tagging
from bedrock_kb_simulator.tags import Tags
from bedrock_kb_simulator.vector_buckets import VectorBuckets
from bedrock_kb_simulator.vector_indexes import VectorIndexes
from bedrock_kb_simulator.vector_items import VectorItems
from bedrock_kb_simulator.vector_queries import VectorQueries


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
        tags=Tags(store=components.store, most=TAGS),
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
        tags=Tags(store=components.store, most=GUARDRAIL_TAGS),
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
    tags = Tags(store=store, most=VECTOR_TAGS)
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
