"""Tests of the tools for agents' feedback on answers, as the gateway calls them."""

from tests.functions.tools import Tools, text_of

QUESTION = "How long is annual leave?"


def test_agent_feedback_is_stored_for_its_user_and_listed_newest_first(tools: Tools) -> None:
    catalog_id = tools.create()

    kept = tools.call(
        "feedback",
        question=QUESTION,
        helpful=True,
        catalog_id=catalog_id,
        file="leave.pdf",
        page=3,
        note="the second passage",
    )
    tools.call("feedback", question="Who pays?", helpful=False)
    listed = tools.call("list_feedback")

    metadata = kept["metadata"]
    assert (metadata["verdict"], metadata["origin"], metadata["page"]) == ("up", "tool", 3)
    assert text_of(kept) == (
        f"Kept for the user to judge: '{QUESTION}': up, leave.pdf (page 3) ({metadata['at'][:10]})"
    )
    assert [each["question"] for each in listed["metadata"]["feedback"]] == ["Who pays?", QUESTION]
    assert listed["metadata"]["feedback"][1] == {
        name: value for name, value in metadata.items() if name != "tool_type"
    }
    assert text_of(listed).startswith("Found 2 questions with feedback:\n- 'Who pays?': down (")
