"""
An agent on events: one is answered after another, each by a fresh agent with no memory.

- definition_settings: what the function reads from its environment
- agent_events: what is asked, and for whom, and what the model is told of it
- toolbox: the tools of TOOLS_CONFIG, loaded once
- run_limits: no agent goes on for ever
- event_conversation: an event -> the agent's answer, text or JSON, in one conversation
- queue: the messages of a batch, each answered or failed for itself
- event_agent: all of it, made of the environment

`stackroom_agents.batch_handler` is the function. Imports stackroom and Strands; what it needs of
AWS it gets from stackroom.aws.
"""
