"""
Agents that users make for themselves, and the knowledge bases that these may ask.

- agents: made, listed, changed and removed
- links: a knowledge base becomes a tool of an agent, is asked otherwise, and is taken away
- available: what can be linked: the user's catalogs, and what the deployment shares
- etag: what somebody saw when they began to change it
- exchange: an agent as a file
- tool_names: what such a tool is called
- runs: a question to an agent: accepted, looked at, called off
- runner: carries one out, once; run_recorder: its steps, written down as they come
- bounds, step_sizes: what a run may take, and what its record holds
- endings: why there is no answer
- asking, tool_answers: a linked knowledge base asked, and what its tool answers

Imports retrieval, gateway, ports and the model. Comes from: the console, and the queue of runs.
Whoever talks to models is behind a port (`ports/agent_runs.py`); stackroom_agents does.
"""
