"""The rights of agents, by `make permissions`; of functions: tests/e2e/test_permissions.py."""

import pytest

from tests.campaigns.permissions import agents
from tests.campaigns.permissions.agent_stack import CLERK, LIBRARIAN, MECHANIC
from tests.campaigns.permissions.report import DOCUMENT, documented_of_agents
from tests.campaigns.permissions.roles import Grant


@pytest.mark.processes
def test_agents_do_all_that_they_do_with_exactly_their_rights() -> None:
    outcome = agents.run(lambda _: None)

    told = {"success": True, "result": agents.ANSWER}
    at_length = {"success": True, "result": f"{agents.ANSWER} 1.08 it is."}
    assert outcome.answers[CLERK] == [at_length, at_length, {"batchItemFailures": []}]
    assert [each["result"] for each in outcome.sent] == [at_length["result"]]
    assert outcome.answers[LIBRARIAN] == outcome.answers[MECHANIC] == [told]
    assert [str(each) for each in outcome.comparison.denied] == []
    assert outcome.comparison.unused == [Grant(CLERK, "bedrock:RetrieveAndGenerate", "*")]
    granted = {each for role in outcome.comparison.roles.values() for each in role.grants}
    assert documented_of_agents(DOCUMENT.read_text("utf-8")) == granted, "run: make permissions"
