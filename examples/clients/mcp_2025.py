import asyncio
import os

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client


async def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['STACKROOM_TOKEN']}"}
    async with (
        streamablehttp_client(os.environ["STACKROOM_MCP_URL"], headers) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        print((await session.initialize()).protocolVersion)
        print(len((await session.list_tools()).tools), "tools")
        answer = await session.call_tool(
            "knowledge___knowledge_base_retrieve",
            {"query": "daily meal allowance in Norway"},
        )
        print(answer.content[0].text)


asyncio.run(main())
