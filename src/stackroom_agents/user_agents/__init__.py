"""
Agents that users make for themselves, and the knowledge bases that they may search.

- agent, agent_run: their records
- agent_repositories: the ports that store them and hold conversations
- agents: create, list, change and remove agents
- links: make a knowledge base a tool of an agent, change how it is searched, remove it
- available_knowledge_bases: the knowledge bases to link: the user's catalogs and shared ones
- exchange: an agent as a file
- runs: accept, read and cancel questions to an agent; run_bounds: their limits
- runner: carries out a run once, records its steps, and gives the reason if there is no answer
- asking: searches a linked knowledge base, and answers as its tool

Imports search and access. The console and the queue of runs use it. stackroom_agents talks to
models.
"""
