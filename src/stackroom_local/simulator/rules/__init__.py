"""
Every limit, delay and error text that the simulator enforces, by name and with its source.

Sources: `model` is the botocore service model, `quotas` the AWS General Reference page "Amazon
Bedrock endpoints and quotas", `guide` the Bedrock or S3 Vectors user guide, `observed` what users
of the real service reported, `assumed` our choice where nothing says. docs/fidelity.md is
generated from `RULES`.
"""

# One table in several parts: whoever uses a rule need not know in which it is written.
from stackroom_local.simulator.rules.attachments import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.conversations import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.documents import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.files import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.generation import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.guardrails import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.ingestion import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.invocations import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.jobs import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.limits import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.managed import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.managed_ingestion import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.managed_searches import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.opensearch import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.requests import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.resources import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.rule import RULES, Rule
from stackroom_local.simulator.rules.searches import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.tags import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.text_searches import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.tools import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.vector_queries import *  # noqa: F403 - as above
from stackroom_local.simulator.rules.vectors import *  # noqa: F403 - as above

__all__ = ["RULES", "Rule"]
