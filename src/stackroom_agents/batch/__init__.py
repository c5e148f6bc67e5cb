"""
An agent on events: each event is answered by a fresh agent without memory.

- definition_settings: the environment variables of the function - agent_events: an event's question
and identity, and the messages for the model - toolbox: the tools of TOOLS_CONFIG, loaded once -
run_limits: limits of an agent's time and calls - event_conversation: an event -> the agent's
answer, text or JSON, in one conversation - queue: the messages of a batch, each answered or failed
on its own - event_agent: an agent built from the environment

`stackroom_agents.batch_handler` is the function. Imports stackroom and Strands; it uses AWS through
stackroom.aws.
"""
