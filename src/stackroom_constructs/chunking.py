"""
The way Bedrock cuts documents into chunks, which can't be changed once a data source is created.

Ranges: API model of bedrock-agent (botocore 1.44.5).
https://docs.aws.amazon.com/bedrock/latest/userguide/kb-chunking.html
"""

from dataclasses import dataclass
from typing import Any, Literal

from stackroom_constructs.argument_checks import InvalidArgument, check_choice, check_range

Strategy = Literal["default", "fixed", "hierarchical", "semantic", "none"]
STRATEGIES = ("default", "fixed", "hierarchical", "semantic", "none")
_MANAGED_STRATEGIES = ("default", "fixed", "none")
_MAX_TOKENS = 8192

# "Hierarchical chunking is not recommended when using S3 vector bucket as your vector store. When
# using high number of tokens for chunking (over 8000 tokens combined), you may run into metadata
# size limitations." What is combined isn't said: the two sizes, as we read it.
# https://docs.aws.amazon.com/bedrock/latest/userguide/kb-chunking.html, "Hierarchical chunking"
MAX_COMBINED_TOKENS = 8000


@dataclass(frozen=True, kw_only=True)
class Chunking:
    """A chunking strategy with the fields of KnowledgeBaseCreation. Raises InvalidArgument."""

    strategy: Strategy = "default"
    max_tokens: int = 300
    overlap_percentage: int = 20
    parent_tokens: int = 1500
    child_tokens: int = 300
    overlap_tokens: int = 60
    buffer_size: int = 0
    breakpoint_percentile: int = 95
    owner: str = "Chunking"  # the subject of errors

    def __post_init__(self) -> None:
        check_choice(self.owner, "chunking", self.strategy, STRATEGIES)
        for argument, least, most in (
            ("max_tokens", 1, _MAX_TOKENS),
            ("overlap_percentage", 1, 99),
            ("parent_tokens", 1, _MAX_TOKENS),
            ("child_tokens", 1, _MAX_TOKENS),
            ("overlap_tokens", 1, _MAX_TOKENS),
            ("buffer_size", 0, 1),
            ("breakpoint_percentile", 50, 99),
        ):
            check_range(self.owner, argument, getattr(self, argument), least, most)
        # Bedrock states no rule for the two levels; a child must not be larger than its parent.
        if self.child_tokens > self.parent_tokens:
            allowed = f"at most the parent_tokens, {self.parent_tokens:,}"
            raise InvalidArgument(self.owner, "child_tokens", self.child_tokens, allowed)

    @property
    def is_default(self) -> bool:
        """
        True if the strategy is Bedrock's default.

        https://docs.aws.amazon.com/bedrock/latest/userguide/kb-managed-customize-ingestion.html
        """
        sizes = (self.max_tokens, self.overlap_percentage)
        return self.strategy == "default" or (self.strategy == "fixed" and sizes == (300, 20))

    @property
    def configuration(self) -> dict[str, Any] | None:
        """`chunkingConfiguration` of CreateDataSource; None for Bedrock's default."""
        match self.strategy:
            case "default":
                return None
            case "none":
                return {"chunkingStrategy": "NONE"}
            case "fixed":
                sizes = {
                    "maxTokens": self.max_tokens,
                    "overlapPercentage": self.overlap_percentage,
                }
                return {"chunkingStrategy": "FIXED_SIZE", "fixedSizeChunkingConfiguration": sizes}
            case "hierarchical":
                levels = {
                    "levelConfigurations": [
                        {"maxTokens": self.parent_tokens},
                        {"maxTokens": self.child_tokens},
                    ],
                    "overlapTokens": self.overlap_tokens,
                }
                return {
                    "chunkingStrategy": "HIERARCHICAL",
                    "hierarchicalChunkingConfiguration": levels,
                }
            case "semantic":
                sentences = {
                    "maxTokens": self.max_tokens,
                    "bufferSize": self.buffer_size,
                    "breakpointPercentileThreshold": self.breakpoint_percentile,
                }
                return {
                    "chunkingStrategy": "SEMANTIC",
                    "semanticChunkingConfiguration": sentences,
                }

    def check_store(self, vector_store_type: str) -> None:
        """Raise InvalidArgument for a strategy that the store doesn't support."""
        if vector_store_type == "MANAGED" and self.strategy not in _MANAGED_STRATEGIES:
            allowed = f"one of {', '.join(_MANAGED_STRATEGIES)} in a MANAGED knowledge base"
            raise InvalidArgument(self.owner, "chunking", self.strategy, allowed)
        combined = self.parent_tokens + self.child_tokens
        if self._fills_metadata(vector_store_type) and combined > MAX_COMBINED_TOKENS:
            allowed = (
                f"at most {MAX_COMBINED_TOKENS - self.child_tokens:,} with child_tokens"
                f" {self.child_tokens:,} on S3 Vectors, whose metadata limit they may exceed above"
                f" {MAX_COMBINED_TOKENS:,} combined"
            )
            raise InvalidArgument(self.owner, "parent_tokens", self.parent_tokens, allowed)

    def warning(self, vector_store_type: str) -> str | None:
        """Return a warning about the strategy in such a store, if there is one."""
        if not self._fills_metadata(vector_store_type):
            return None
        return (
            "AWS doesn't recommend hierarchical chunking on S3 Vectors: each child stores its"
            f" parent in its metadata, which more than {MAX_COMBINED_TOKENS:,} tokens combined may"
            f" exceed; here it is {self.parent_tokens + self.child_tokens:,}."
            " https://docs.aws.amazon.com/bedrock/latest/userguide/kb-chunking.html"
        )

    def _fills_metadata(self, vector_store_type: str) -> bool:
        return self.strategy == "hierarchical" and vector_store_type == "S3_VECTORS"
