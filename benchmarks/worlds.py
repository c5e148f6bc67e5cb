"""
Seven assumptions about Bedrock's undocumented speed, on which the fastest design depends.

Jobs index one document at a time, or 8, or 16; direct calls take 4 seconds, or a minute, or one or
four minutes with a PDF among their documents.
"""

from collections.abc import Mapping

from bedrock_kb_simulator.assumptions import Assumptions

ASSUMED = "jobs 1, calls 4 s"  # what the local mode simulates
WORLDS: Mapping[str, Assumptions] = {
    ASSUMED: Assumptions(),
    "jobs 8": Assumptions(job_documents=8),
    "jobs 16": Assumptions(job_documents=16),
    "calls 60 s": Assumptions(direct_seconds=60),
    "jobs 8, calls 60 s": Assumptions(job_documents=8, direct_seconds=60),
    "PDF calls 60 s": Assumptions(direct_pdf_seconds=60),
    "PDF calls 240 s": Assumptions(direct_pdf_seconds=240),
}
