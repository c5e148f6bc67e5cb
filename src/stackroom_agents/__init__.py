"""
What runs inside an agent: the catalog tools, and retrieve_from_knowledge_base, for Strands.

- catalog_tools: Strands tools of the same names as the gateway's, over the same definitions
- retrieval_tool: retrieve_from_knowledge_base
- identity: who is asking, from the invocation state
- services, configuration: the use cases behind the tools; from the environment, or a project
- access: the audit line of each call

    from strands import Agent
    from stackroom_agents.catalog_tools import catalog_tools
    from stackroom_agents.configuration import from_project

    agent = Agent(tools=catalog_tools(from_project()))  # by default from environment variables
    agent("Which catalogs do I have?", invocation_state={"user_id": "alice"})

Imports stackroom, and nothing of functions or the local mode. Needs the extra `agents`.
"""
