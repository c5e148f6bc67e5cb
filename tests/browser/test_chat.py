"""What a user asks an agent in the chat, and what the page shows of it."""

from playwright.sync_api import expect

from simulator.tests.files import pdf
from stackroom_local.state import Instance
from tests.browser.builders import (
    CITED,
    answered,
    ask,
    make_agent,
    quick_add,
    script,
    searching,
    stocked,
)
from tests.browser.conftest import SignedIn

MANUAL = pdf("The harbour has two cranes.", "The pump of the lock is greased every 200 hours.")


def test_the_model_calls_the_tool_and_its_answer_cites_the_document(
    signed_in: SignedIn, instance: Instance
) -> None:
    vera = signed_in("vera-cites")
    stocked(instance, vera.name, "Lock manuals", {"pump.pdf": MANUAL})
    agent = make_agent(vera, "Lock keeper")
    quick_add(vera, agent, "Lock manuals")
    question = "How often is the pump of the lock greased?"
    script(
        instance,
        question,
        {"text": "I look it up.", "uses": searching("search_lock_manuals", question)},
        {
            "text": "{{often}} [{{file}}, page {{page}}].",
            "quotes": {"often": r"every \d+ hours", **CITED},
        },
        model=vera.page.get_by_label("Model", exact=True).input_value(),
    )

    run = answered(ask(vera, agent, question))

    expect(run.locator(".answer")).to_have_text("every 200 hours [pump.pdf, page 2].")
    expect(run.locator(".steps > li").first).to_have_text("I look it up.")
    step = run.locator("details")
    expect(step.locator("summary")).to_contain_text("search_lock_manuals")
    step.locator("summary").click()
    first = step.locator("blockquote").first
    expect(first).to_contain_text("greased every 200 hours")
    expect(first.locator("cite")).to_have_text("pump.pdf, page 2")
    assert vera.said == []
