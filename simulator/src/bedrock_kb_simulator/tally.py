"""What a job counts, and what it says went wrong, in AWS's vague words."""

from collections import Counter
from dataclasses import dataclass, field

from bedrock_kb_simulator.errors import Unindexable
from bedrock_kb_simulator.rules import FAILURE_REASONS

_COUNTS = (
    "numberOfDocumentsScanned",
    "numberOfMetadataDocumentsScanned",
    "numberOfNewDocumentsIndexed",
    "numberOfModifiedDocumentsIndexed",
    "numberOfMetadataDocumentsModified",
    "numberOfDocumentsDeleted",
    "numberOfDocumentsFailed",
    "numberOfDocumentsSkipped",
)


def nothing_yet() -> dict[str, int]:
    return dict.fromkeys(_COUNTS, 0)


@dataclass
class Tally:
    counts: Counter[str] = field(default_factory=Counter)
    _at_source: dict[str, list[str]] = field(default_factory=dict)
    _at_store: list[str] = field(default_factory=list)

    def count(self, what: str, number: int = 1) -> None:
        assert what in _COUNTS, f"no statistic is called {what}"
        self.counts[what] += number

    def count_failure(self, uri: str, error: Unindexable) -> None:
        """One document more that failed."""
        self.count("numberOfDocumentsFailed")
        if error.at_store:
            self._at_store.append(
                f"Encountered error: {error.cause} Issue occurred while processing file: {uri}. "
                "Call to Amazon S3 Vectors did not succeed."
            )
        else:
            self._at_source.setdefault(error.cause, []).append(uri)

    def statistics(self) -> dict[str, int]:
        return nothing_yet() | dict(self.counts)

    def failure_reasons(self) -> list[str]:
        """Files of one cause share a reason, as AWS has it (observed)."""
        shared = [
            f"Encountered error: {cause.format(count=len(uris))} [Files: {', '.join(uris)}]. "
            "Call to Customer Source did not succeed."
            for cause, uris in self._at_source.items()
        ]
        return (shared + self._at_store)[: FAILURE_REASONS.limit]
