"""How the documents of a data source are read and cut, of a managed knowledge base or another."""

from typing import Any

from bedrock_kb_simulator import connectors, vector_ingestion
from bedrock_kb_simulator.chunk_strategies import strategy_of
from bedrock_kb_simulator.knowledge_base_configurations import has_custom_embedding
from bedrock_kb_simulator.rules import MANAGED_CHUNKING, MANAGED_FILE_SIZE, MANAGED_PARSING
from bedrock_kb_simulator.sidecars import OF_MANAGED
from bedrock_kb_simulator.vector_ingestion import VectorIngestion

_STRATEGIES = ("FIXED_SIZE", "NONE")


def ingestion_of(source: dict[str, Any]) -> VectorIngestion:
    """Of what is kept of a data source."""
    configuration = source["dataSourceConfiguration"]
    given = source.get("vectorIngestionConfiguration") or {}
    if configuration["type"] != connectors.TYPE:
        return VectorIngestion.configured(given)
    return VectorIngestion(
        strategy=strategy_of(given.get("chunkingConfiguration") or {}),
        sees=connectors.reads_pictures(configuration),
        bounds=OF_MANAGED,
        file_size=MANAGED_FILE_SIZE,
    )


def check(home: dict[str, Any], configuration: dict[str, Any]) -> None:
    """Raise ValidationException for what a managed knowledge base refuses; `home` is its body."""
    chunking = configuration.get("chunkingConfiguration")
    strategy = (chunking or {}).get("chunkingStrategy")
    if chunking and (strategy not in _STRATEGIES or not has_custom_embedding(home)):
        raise MANAGED_CHUNKING.broken(strategy=strategy)
    parsing = configuration.get("parsingConfiguration") or {}
    if parsing.get("parsingStrategy") not in (None, "SMART_PARSING"):
        raise MANAGED_PARSING.broken(strategy=parsing["parsingStrategy"])
    vector_ingestion.check({**configuration, "parsingConfiguration": {}})
