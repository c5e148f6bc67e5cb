"""
An agent that people talk to: its answer is streamed as the model writes it.

- conversation: a turn of a session, and what was said in it before
- app: the process, by the contract of AgentCore Runtime
- composition: made of the environment
"""
