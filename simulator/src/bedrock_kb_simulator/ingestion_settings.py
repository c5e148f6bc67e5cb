"""
A data source's vectorIngestionConfiguration: how its documents are read and chunked.

The API model limits its numbers (rule chunk.ranges); the further rules are here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator import connectors, rules
from bedrock_kb_simulator.bucket_objects import OF_MANAGED, OF_VECTOR, Bounds
from bedrock_kb_simulator.chunk_strategies import Strategy, strategy_of

_OF_STRATEGY = {
    "FIXED_SIZE": "fixedSizeChunkingConfiguration",
    "HIERARCHICAL": "hierarchicalChunkingConfiguration",
    "SEMANTIC": "semanticChunkingConfiguration",
}
_VISUAL_PARSERS = ("BEDROCK_FOUNDATION_MODEL", "BEDROCK_DATA_AUTOMATION")


@dataclass(frozen=True, kw_only=True)
class VectorIngestion:
    """The way documents are ingested; `sees` is true if a model or Data Automation reads images."""

    strategy: Strategy
    sees: bool
    bounds: Bounds
    file_size: rules.Rule

    @property
    def formats(self) -> Sequence[str]:
        """The file extensions that are accepted."""
        return (*rules.FORMATS, *rules.IMAGE_FORMATS) if self.sees else rules.FORMATS

    def is_seen(self, extension: str) -> bool:
        """Return True if images in files with this extension are read, not only their text."""
        return self.sees and extension in rules.PARSED_FORMATS

    def most_bytes(self, extension: str) -> rules.Rule:
        """Return the rule that limits the size of files with this extension."""
        return rules.PARSE_IMAGE_SIZE if extension in rules.IMAGE_FORMATS else self.file_size


def check(configuration: dict[str, Any]) -> None:
    """Raise ValidationException for members that are invalid or not simulated."""
    for member in ("customTransformationConfiguration", "contextEnrichmentConfiguration"):
        if configuration.get(member):
            raise rules.NOT_SIMULATED.broken(what=member)
    _check_chunking(configuration.get("chunkingConfiguration") or {})
    _check_parsing(configuration.get("parsingConfiguration") or {})


def _check_chunking(chunking: dict[str, Any]) -> None:
    strategy = chunking.get("chunkingStrategy")
    own = _OF_STRATEGY.get(strategy or "")
    strange = [each for each in _OF_STRATEGY.values() if each != own and chunking.get(each)]
    if strange:
        raise rules.CHUNK_CONFIGURATION.broken(problem=f"{strange[0]} does not go with {strategy}")
    if own in (None, "fixedSizeChunkingConfiguration"):
        return  # FIXED_SIZE has defaults
    if not chunking.get(own):
        raise rules.CHUNK_CONFIGURATION.broken(problem=f"{strategy} needs {own}")
    if strategy == "HIERARCHICAL":
        given = chunking[own]
        parent, child = (level["maxTokens"] for level in given["levelConfigurations"])
        if not given["overlapTokens"] < child <= parent:
            raise rules.CHUNK_LEVELS.broken(
                parent=parent, child=child, overlap=given["overlapTokens"]
            )


def _check_parsing(parsing: dict[str, Any]) -> None:
    strategy = parsing.get("parsingStrategy")
    if strategy in (None, "BEDROCK_DATA_AUTOMATION"):
        return
    if strategy not in _VISUAL_PARSERS:
        raise rules.PARSING_OF_MANAGED.broken(strategy=strategy)
    if not parsing.get("bedrockFoundationModelConfiguration"):
        raise rules.PARSING_CONFIGURATION.broken()


def ingestion_of(source: dict[str, Any]) -> VectorIngestion:
    """Return the settings of a stored data source."""
    configuration = source["dataSourceConfiguration"]
    given = source.get("vectorIngestionConfiguration") or {}
    is_managed = configuration["type"] == connectors.TYPE
    parser = (given.get("parsingConfiguration") or {}).get("parsingStrategy")
    return VectorIngestion(
        strategy=strategy_of(given.get("chunkingConfiguration") or {}),
        sees=is_managed or parser in _VISUAL_PARSERS,
        bounds=OF_MANAGED if is_managed else OF_VECTOR,
        file_size=rules.MANAGED_FILE_SIZE if is_managed else rules.FILE_SIZE,
    )


def check_managed(configuration: dict[str, Any]) -> None:
    """Raise ValidationException for a configuration that managed knowledge bases refuse."""
    if chunking := configuration.get("chunkingConfiguration"):
        raise rules.MANAGED_CHUNKING.broken(strategy=chunking.get("chunkingStrategy"))
    parsing = configuration.get("parsingConfiguration") or {}
    if parsing.get("parsingStrategy") not in (None, "SMART_PARSING"):
        raise rules.MANAGED_PARSING.broken(strategy=parsing["parsingStrategy"])
    check({**configuration, "parsingConfiguration": {}})
