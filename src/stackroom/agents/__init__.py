"""
Agents that users make for themselves, and the knowledge bases that these may ask.

- agents: made, listed, changed and removed
- links: a knowledge base becomes a tool of an agent, is asked otherwise, and is taken away
- available: what can be linked: the user's catalogs, and what the deployment shares
- exchange: an agent as a file
- tool_names: what such a tool is called

Imports ports, ownership and the model. Comes from: the console. An agent's run is not here.
"""
