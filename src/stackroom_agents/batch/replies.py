"""How an answer is told, or why there is none."""

from stackroom.errors import StackroomError
from stackroom.gateway.plain_text import encodable
from stackroom_agents.batch.json_answers import Json

Reply = dict[str, object]


def success(result: str | Json) -> Reply:
    told: Reply = encodable({"success": True, "result": result})
    return told


def failure(error: StackroomError) -> Reply:
    told: Reply = encodable(
        {"success": False, "result": None, "error": str(error), "errorType": type(error).__name__}
    )
    return told
