"""
Agents that users make for themselves, and the knowledge bases that these may ask.

- agent, agent_run: their records; agent_repositories: who keeps them, and who talks to models
- agents: made, listed, changed and removed
- links: a knowledge base becomes a tool of an agent, is asked otherwise, and is taken away
- available: what can be linked: the user's catalogs, and what the deployment shares
- exchange: an agent as a file
- runs: a question to an agent: accepted, looked at, called off; what it may take
- runner: carries one out, once, writes its steps down, and says why there is no answer
- asking: a linked knowledge base asked, and what its tool answers

Imports search and access. Comes from: the console, and the queue of runs. stackroom_agents talks to
models.
"""
