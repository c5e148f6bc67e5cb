"""One turn of a session: a question, and the pieces of its answer as the model writes them."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from strands import Agent
from strands.models import Model
from strands.types.content import ContentBlock, Message

from stackroom.aws.s3.agent_sessions import AgentSessions
from stackroom.errors import AgentUnfinished
from stackroom.identity import Caller
from stackroom_agents.batch.bounds import TURNS, ToolCalls
from stackroom_agents.batch.turns import raise_anew, text_of, texts
from stackroom_agents.identity import GROUPS, SESSION_ID, USER_ID

SECONDS = 600  # of a turn, as a batch agent's function has


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """Nothing of a session is kept in the process, so one may serve many, and any user."""

    model: Model
    system_prompt: str
    tools: Sequence[Any]
    sessions: AgentSessions

    async def answer(self, question: str, caller: Caller, session_id: str) -> AsyncIterator[str]:
        """
        The texts that the model says, in pieces.

        A turn that fails, or whose client leaves, is not remembered: half a turn would be no
        conversation to a model. Raises what `Turns.answer` does.
        """
        calls = ToolCalls(threading.Event())
        try:
            async with asyncio.timeout(SECONDS):
                agent = await self._agent(caller, session_id, calls)
                async for piece in self._said(agent, question, caller, calls):
                    yield piece
                kept = json.dumps(_said_in(agent.messages)).encode()
                await asyncio.to_thread(self.sessions.write, caller.user_id, session_id, kept)
        except TimeoutError:
            raise AgentUnfinished(f"it had {SECONDS} seconds, and has no more") from None
        finally:
            calls.stop.set()  # for tools that a client who left has no use for

    async def _agent(self, caller: Caller, session_id: str, calls: ToolCalls) -> Agent:
        kept = await asyncio.to_thread(self.sessions.read, caller.user_id, session_id)
        return Agent(
            model=self.model,
            messages=json.loads(kept) if kept else [],
            system_prompt=self.system_prompt,
            tools=list(self.tools),
            callback_handler=None,  # the default prints what the model says
            hooks=[calls],
            retry_strategy=None,  # boto3 has tried again; who asked may do so later
        )

    async def _said(
        self, agent: Agent, question: str, caller: Caller, calls: ToolCalls
    ) -> AsyncIterator[str]:
        events = agent.stream_async(
            question,
            invocation_state={
                USER_ID: caller.user_id,
                GROUPS: list(caller.groups),
                SESSION_ID: caller.session_id,
            },
            limits={"turns": TURNS},
            cancel_signal=calls.stop,
        )
        try:
            async for event in events:
                if "data" in event:
                    yield event["data"]
                elif "result" in event:
                    text_of(event["result"], calls)
        except Exception as error:
            raise_anew(error)


def _said_in(messages: Sequence[Message]) -> list[Message]:
    """
    Questions and answers, and nothing that a tool returned: what may be found is asked anew in each
    turn, for by then a document may be gone, or no longer be for this user.
    """
    said: list[Message] = []
    for each in messages:
        told: list[ContentBlock] = [{"text": text} for text in texts(each) if text.strip()]
        if said and said[-1]["role"] == each["role"]:  # a tool was called between
            said[-1]["content"].extend(told)
        elif told:
            said.append({"role": each["role"], "content": told})
    return said
