"""
What nobody documents of Bedrock's speed, seven ways: which design is the sooner hangs on it.

Jobs that index one document at a time, or 8, or 16; direct calls of 4 seconds, or a minute, or of
one or four minutes where a PDF is among their documents.
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
