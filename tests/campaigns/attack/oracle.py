"""Judges attempts: no effect, a leak, or a refusal that nobody can act on."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any

import botocore.session

from stackroom.tools.calls import REFUSALS
from tests.campaigns.attack.wire import Answer


class May(StrEnum):
    """Nothing of the victim's may be in an answer, whatever it is."""

    BE_REFUSED = "be refused"  # and nothing else
    ANSWER_OWN = "answer with what is the attacker's own"


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """`name` says what is tried; `tool` is the one it is tried on, or what else it goes through."""

    kind: str
    tool: str
    name: str
    act: Callable[[], Answer]
    may: May = May.BE_REFUSED


CODES = frozenset({each.code for each in REFUSALS.values()} | {"NO_RESULTS", "UNAVAILABLE"})
TYPES = frozenset(
    {"ValidationError", "MissingIdentity", "KnowledgeBaseNotFound", "RetrievalFailed", "Throttled"}
)
# Answers of the service's own misfortune: well told, but no attempt may bring it about.
_MISFORTUNES = frozenset({"UNAVAILABLE", "THROTTLED", "RetrievalFailed", "Throttled"})
GIVEAWAYS = re.compile(
    r"Traceback|botocore|boto3|ClientError|when calling the|Lambda function error"
    r"|internal error|\.py\b|An error occurred"
)
_SERVICES = ("dynamodb", "s3", "bedrock-agent", "bedrock-agent-runtime", "stepfunctions", "sqs")
_LONGEST = 10_000  # characters of a refusal; what was sent is no use to whoever sent it
FORGED = "FORGED-LINE"  # begins what imitates a tool's output; no line of an answer may begin so


@dataclass(frozen=True)
class Verdict:
    """Each is what is wrong, or empty."""

    leak: str = ""
    unstructured: str = ""


def judged(attempt: Attempt, answer: Answer, secrets: Iterable[str]) -> Verdict:
    return Verdict(leak=_leak(attempt, answer, secrets), unstructured=_unstructured(answer))


def _leak(attempt: Attempt, answer: Answer, secrets: Iterable[str]) -> str:
    shown = f"{answer.body}\n{answer.headers}".casefold()
    sent = answer.sent.casefold()
    for secret in secrets:
        if secret.casefold() in shown and secret.casefold() not in sent:
            return f"tells {secret!r}"
    if any(line.lstrip("|- ").startswith(FORGED) for line in _lines(answer)):
        return "has a line that a name or a document wrote"
    if attempt.may is May.BE_REFUSED and not _is_refusal(answer):
        return "was not refused"
    return ""


def _unstructured(answer: Answer) -> str:
    if answer.status >= 500:
        return f"status {answer.status}"
    if _is_of_s3(answer):
        return ""
    for giveaway in (GIVEAWAYS, _operations()):
        if found := giveaway.search(_without(answer.body, answer.sent)):
            return f"says {found[0]!r}"
    return _unactionable(answer)


def _unactionable(answer: Answer) -> str:
    if len(answer.body) > _LONGEST and _is_refusal(answer):
        return f"takes {len(answer.body):,} characters to refuse"
    told = answer.tool()
    if told is None or not _is_refusal(answer):
        return ""
    code = _code(told)
    if code in _MISFORTUNES:
        return f"blames the service: {code}"
    return "" if code in CODES | TYPES else f"unknown code {code!r}"


def _is_of_s3(answer: Answer) -> bool:
    """S3's refusals have a form of their own, which is not ours to word."""
    return answer.status >= 400 and "<Error><Code>" in answer.body


def _is_refusal(answer: Answer) -> bool:
    if answer.status >= 400:
        return True
    told = answer.tool()
    if told is not None:
        return told.get("status") == "error" or told.get("success") is False
    try:
        message = json.loads(answer.body)
    except ValueError:
        return False
    if not isinstance(message, dict):
        return False
    result = message.get("result")
    return "error" in message or (isinstance(result, dict) and result.get("isError") is True)


def _code(told: dict[str, Any]) -> object:
    if "success" in told:
        return told.get("errorType")
    metadata = told.get("metadata")
    return metadata.get("error_code") if isinstance(metadata, dict) else None


def _lines(answer: Answer) -> Iterable[str]:
    told = answer.tool()
    content = told.get("content") if told else None
    if not isinstance(content, list):
        return []
    return [line for block in content for line in str(block.get("text")).splitlines()]


def _without(text: str, sent: str) -> str:
    return "\n".join(line for line in text.splitlines() if line.strip() not in sent)


@cache
def _operations() -> re.Pattern[str]:
    """Names of more than one word, for `Retrieve` and `Query` are words of everybody's."""
    session = botocore.session.get_session()
    names = {
        name
        for service in _SERVICES
        for name in session.get_service_model(service).operation_names
        if len(re.findall(r"[A-Z]", name)) > 1
    }
    return re.compile(rf"\b({'|'.join(sorted(names))})\b")


@dataclass
class Tally:
    """
    Results of a campaign. Each finding names the kind, tool and attempt to repeat, and its effect.
    """

    attempts: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    leaks: dict[str, str] = field(default_factory=dict)
    unstructured: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    changes: dict[str, str] = field(default_factory=dict)

    @property
    def wrong(self) -> dict[str, dict[str, str]]:
        return {
            "leaks": self.leaks,
            "unstructured refusals": self.unstructured,
            "own documents not found": self.missing,
            "changed": self.changes,
        }

    @property
    def is_clean(self) -> bool:
        return not any(self.wrong.values())

    def summary(self) -> str:
        lines = [f"{kind:24}{number:6}" for kind, number in sorted(self.attempts.items())]
        lines.append(f"{'all':24}{self.attempts.total():6}")
        for title, found in self.wrong.items():
            lines += [f"\n{title}: {name}\n  {came}" for name, came in found.items()]
        return "\n".join(lines)
