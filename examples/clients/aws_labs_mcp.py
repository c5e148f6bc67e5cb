import asyncio
import json
import os

from mcp import Client, StdioServerParameters

server = StdioServerParameters(
    command="awslabs.bedrock-kb-retrieval-mcp-server", env=dict(os.environ)
)


async def main() -> None:
    async with Client(server) as client:
        found = await client.call_tool("ListKnowledgeBases", {})
        [knowledge_base_id] = json.loads(found.content[0].text)
        answer = await client.call_tool(
            "QueryKnowledgeBases",
            {
                "knowledge_base_id": knowledge_base_id,
                "query": "daily meal allowance in Norway",
            },
        )
        print(answer.content[0].text)


asyncio.run(main())
