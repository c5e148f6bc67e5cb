"""The table of rules: each has a source, a test, and a use."""

from pathlib import Path

from botocore.session import get_session

import bedrock_kb_simulator
from bedrock_kb_simulator import rules
from bedrock_kb_simulator.rules import RATES, RULES
from docs.fidelity import holders

SERVICES = (
    *("bedrock", "bedrock-agent", "bedrock-agent-runtime", "bedrock-runtime"),
    *("s3vectors", "textract"),
)
SOURCES = ("model", "quotas", "guide", "observed", "assumed", "CloudFormation")


def test_every_rule_names_its_source() -> None:
    sourceless = [rule.name for rule in RULES.values() if not _is_sourced(rule.source)]

    assert sourceless == []


def test_every_rule_is_held_by_a_test() -> None:
    unheld = [name for name, tests in holders().items() if not tests]

    assert unheld == []


def test_every_rule_is_used_by_the_simulator() -> None:
    package = Path(bedrock_kb_simulator.__file__).parent
    code = "\n".join(
        path.read_text() for path in package.rglob("*.py") if path.parent.name != "rules"
    )

    constants = [name for name, value in vars(rules).items() if isinstance(value, rules.Rule)]
    unused = [
        name
        for name in constants
        if not name.startswith("_") and name not in code and getattr(rules, name).name not in code
    ]

    assert unused == []


def test_every_error_of_a_rule_is_in_awss_models() -> None:
    session = get_session()
    modelled = {
        shape.name
        for service in SERVICES
        for shape in session.get_service_model(service).error_shapes
    }

    assert {rule.error for rule in RULES.values() if not rule.status} <= modelled


def test_every_rate_belongs_to_an_operation_of_aws() -> None:
    session = get_session()
    operations = {
        name for service in SERVICES for name in session.get_service_model(service).operation_names
    }

    assert set(RATES) <= operations


def _is_sourced(source: str) -> bool:
    return any(word in source for word in SOURCES)
