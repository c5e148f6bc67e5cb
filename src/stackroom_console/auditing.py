"""Who read what in the console: the audit line that tools leave, for what a page hands out."""

from stackroom.gateway.access import SUCCESS, access_of
from stackroom.identity import ToolCall
from stackroom_console.endpoint import Endpoint
from stackroom_console.problems import Problem
from stackroom_console.request import Request


def audit(endpoint: Endpoint, request: Request, problem: Problem | None, *, seconds: float) -> None:
    """
    A line for each call of an endpoint that `reads`, whoever asked and whatever was answered;
    never any text, as of tools.
    """
    if not endpoint.reads:
        return
    called = None if request.known is None else ToolCall(endpoint.reads, request.known)
    request.console.log(
        access_of(
            called,
            tools=(endpoint.reads,),
            outcome=SUCCESS if problem is None else problem.code,
            seconds=seconds,
            named_in=({"catalog_id": request.form.get("catalog") or None}, request.path),
            shown=() if problem is not None else request.handed_out,
            otherwise=endpoint.reads,
        )
    )
