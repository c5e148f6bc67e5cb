"""
Deployments by context, synthesised once for each state of their sources.

All workers and later runs share them in .cache. cdk-nag checks each synthesis: a finding without
acknowledgment fails it.
"""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tests.infra.assembly import Assembly

# Set before the CDK is imported, which reads both once.
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")
os.environ["CDK_VALIDATION"] = "false"

ROOT = Path(__file__).parents[2]
_PACKAGES = (
    "stackroom",
    "stackroom_agents",
    "stackroom_console",
    "stackroom_constructs",
    "stackroom_stores",
)
_CACHED = 3  # per context, so that switching branches stays quick

DOMAIN = "console.example.com"
CERTIFICATE = "arn:aws:acm:us-east-1:123456789012:certificate/0123abcd-0000-0000-0000-000000000000"
BREAK_GLASS = "arn:aws:iam::123456789012:role/aws-reserved/sso.amazonaws.com/Auditors_0a1b"
NOVA = "amazon.nova-lite-v1:0"
RIGHT: dict[str, object] = {
    **json.loads((ROOT / "cdk.json").read_text("utf-8"))["context"],
    "answer_model": "eu.amazon.nova-lite-v1:0",
    "bundling": "none",
}


VECTORS = "arn:aws:s3vectors:{region}:{account}:bucket/stackroom-vectors-{account}-{region}"
REDIS = "rediss://cache.example.com:6379"
CONTEXTS: Mapping[str, Mapping[str, object]] = {
    "as in cdk.json": {},
    "managed": {"knowledge_base_type": "managed"},
    "reading scans": {"ocr": "textract"},
    # A cache in a VPC and linked knowledge bases, each of which adds rights.
    "cached and sharing": {
        "redis_url": REDIS,
        "redis_subnet_ids": "subnet-0123456789abcdef0,subnet-0123456789abcdef1",
        "redis_security_group_ids": "sg-0123456789abcdef0",
        "shared_knowledge_bases_file": "tests/infra/shared_knowledge_bases.json",
    },
    # Two levels of chunks, a model that parses images, and one that answers in its region; no
    # console.
    "hierarchical": {
        "console": "off",
        "mfa": "optional",
        "threat_protection": "audit",
        "answer_model": NOVA,
        "chunking": "hierarchical",
        "chunk_tokens": "2000,200",
        "chunk_overlap": "40",
        "parsing": "foundation_model",
        "parsing_model": NOVA,
        "retrieve_via": "bedrock",
    },
    "encrypted": {"customer_managed_key": "on", "ocr": "textract"},
    # All settings that don't exclude one another; numbers as text come from the CLI.
    "customised": {
        "project": "docs",
        "knowledge_base_pool_size": 2,
        "catalog_data_sources": "s3",
        "admission_jobs": "7",
        "admission_direct_calls": 20,
        "admission_seconds_between_starts": 2.5,
        "lambda_concurrency": "10",
        "answer_model": f"eu.{NOVA}",
        "answer_prompt_file": "tests/infra/prompt.txt",
        "guardrail_id": "gr123",
        "guardrail_version": "DRAFT",
        "rerank_model": "amazon.rerank-v1:0",
        "retrieve_least_score": "0.3",
        "retrieve_max_tokens": "1200",
        "retrieve_prioritize_by": "recency",
        "retrieve_sharing": "on",
        "redis_url": REDIS,
        "callback_urls": "https://inspector.example/callback",
        "refresh_token_rotation": "off",
        "mfa": "required",
        "threat_protection": "enforced",
        "search_language": "none",
        "chunking": "fixed",
        "chunk_tokens": "500",
        "chunk_overlap": "10",
        "console_domain": DOMAIN,
        "console_certificate_arn": CERTIFICATE,
        "agent_models": f"eu.{NOVA},amazon.nova-micro-v1:0",
        "alarm_email": "ops@example.com",
        "monthly_budget": "50",
        "backup_days": "35",
        "break_glass_role": BREAK_GLASS,
        "upload_origins": "https://app.example.com",
    },
}
# Changes to a deployment, for tests/infra/test_rehearsal_changes.py.
CHANGES: Mapping[str, Mapping[str, object]] = {
    "pool of 3": {"knowledge_base_pool_size": 3},
}


@cache
def deployment(name: str = "as in cdk.json") -> Assembly:
    """Return the stacks for a context of CONTEXTS or CHANGES."""
    context = {**CONTEXTS, **CHANGES}[name]

    def make(directory: Path) -> None:
        # Importing the CDK starts a Node process, which a cached assembly doesn't need.
        import aws_cdk as cdk  # noqa: PLC0415
        from cdk_nag import AwsSolutionsChecks  # noqa: PLC0415

        from infra.app import build_app  # noqa: PLC0415

        app = build_app(str(directory), context)
        cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
        app.synth()
        if context:  # the functions' code is the same everywhere, and checked once
            for asset in directory.glob("asset.*/"):
                shutil.rmtree(asset)

    files = [ROOT / str(context[each]) for each in context if each.endswith("_file")]
    made = synthesise_once(name, make, inputs=json.dumps(context), files=files)
    return Assembly(made, str(context.get("project", "stackroom")))


def synthesise_once(
    name: str, make: Callable[[Path], None], *, inputs: str = "", files: list[Path] | None = None
) -> Path:
    """
    Return the folder of the assembly that `make` writes, or wrote before from the same sources.

    `inputs` and `files` are its inputs other than the project's own sources.
    """
    folder = ROOT / ".cache" / "tests" / "synth" / name.replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        outcome = folder / _fingerprint(inputs, files or [])
        if not (outcome / "manifest.json").exists():
            draft = folder / "draft"
            shutil.rmtree(draft, ignore_errors=True)
            make(draft)
            by_age = sorted(folder.iterdir(), key=lambda each: each.stat().st_mtime, reverse=True)
            for old in by_age[_CACHED:]:
                shutil.rmtree(old)
            draft.rename(outcome)
    return outcome


def _fingerprint(inputs: str, files: list[Path]) -> str:
    digest = hashlib.sha256(inputs.encode())
    for path in [*files, *_sources()]:
        digest.update(f"{path}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _sources() -> tuple[Path, ...]:
    """Return the sources of templates and of the functions' code."""

    def within(folder: Path) -> Iterator[Path]:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                yield path

    folders = [ROOT / each for each in ("infra", "functions", "statemachines")]
    for package in _PACKAGES:
        spec = find_spec(package)
        assert spec is not None, package
        assert spec.origin is not None, package
        folders.append(Path(spec.origin).parent)
    found = [path for folder in folders for path in within(folder)]
    return (ROOT / "cdk.json", ROOT / "requirements.lock", Path(__file__), *found)
