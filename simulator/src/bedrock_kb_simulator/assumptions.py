"""Assumptions about behaviour that AWS doesn't document."""

from dataclasses import dataclass
from enum import StrEnum

from bedrock_kb_simulator import rules


class CustomTells(StrEnum):
    """
    The ways in which Retrieve may name a CUSTOM document's source (rule retrieve.custom-location).
    """

    CUSTOM_ID = "custom-id"
    WITHOUT_URI = "without-uri"
    LOCATION = "location"


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """
    The assumptions that can be changed.

    An option of `python -m bedrock_kb_simulator` changes rules vector.source-uri and
    retrieve.custom-location. A benchmark, in whose simulated time tasks take turns, may change
    job.at-a-time and document.duration (AWS seconds, of a request with a PDF and of any other).
    """

    custom_documents_tell: CustomTells = CustomTells.CUSTOM_ID
    job_documents: int = rules.JOB_AT_A_TIME.limit
    direct_seconds: float = rules.DIRECT_DURATION.value
    direct_pdf_seconds: float | None = None  # None: as for other files
