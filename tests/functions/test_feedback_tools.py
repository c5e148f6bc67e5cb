"""Tests of the tools for agents' feedback on answers, as the gateway calls them."""

from tests.functions.tools import Tools, error_of, text_of

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


def test_feedback_of_others_is_invisible_and_their_catalogs_not_found(tools: Tools) -> None:
    catalog_id, bob = tools.create(), tools.of("bob")
    tools.call("feedback", question=QUESTION, helpful=True, catalog_id=catalog_id)

    listed = bob.call("list_feedback")
    of_hers = bob.call("list_feedback", catalog_id=catalog_id)
    on_hers = bob.call("feedback", question=QUESTION, helpful=True, catalog_id=catalog_id)
    as_her = bob.call("feedback", question=QUESTION, helpful=True, user_id="alice")

    assert listed["metadata"]["feedback"] == []
    for refused in (of_hers, on_hers):
        assert error_of(refused) == (
            "CATALOG_NOT_FOUND",
            f"Error: Catalog '{catalog_id}' not found",
        )
    assert error_of(as_her)[0] == "VALIDATION_ERROR"
    assert len(tools.call("list_feedback")["metadata"]["feedback"]) == 1
    assert bob.call("list_feedback")["metadata"]["feedback"] == []
