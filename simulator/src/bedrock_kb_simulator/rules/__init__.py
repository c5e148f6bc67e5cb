"""
Every limit, delay and error text that the simulator enforces, by name and with its source.

Sources: `model` is the botocore service model, `quotas` the AWS General Reference page "Amazon
Bedrock endpoints and quotas", `guide` the Bedrock or S3 Vectors user guide, `observed` reports by
users of the real service, `assumed` our choice without a source. docs/fidelity.json is generated
from `RULES`.
"""

# One table in several modules; users of a rule import it from here.
from bedrock_kb_simulator.rules.account import *  # noqa: F403 - as above
from bedrock_kb_simulator.rules.answers import *  # noqa: F403 - as above
from bedrock_kb_simulator.rules.ingestion import *  # noqa: F403 - as above
from bedrock_kb_simulator.rules.managed import *  # noqa: F403 - as above
from bedrock_kb_simulator.rules.retrieve import *  # noqa: F403 - as above
from bedrock_kb_simulator.rules.rule import RULES, Rule
from bedrock_kb_simulator.rules.s3_vectors import *  # noqa: F403 - as above
from bedrock_kb_simulator.rules.textract import *  # noqa: F403 - as above

__all__ = ["RULES", "Rule"]
