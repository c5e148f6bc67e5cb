"""
An agent on events: one is answered after another, each by a fresh agent with no memory.

- settings: what the function reads from its environment
- events: what is asked, and for whom; of a direct invocation, or of an SQS message
- messages: what the model is told of it: text, or a document out of S3
- toolbox: the tools of TOOLS_CONFIG, loaded once
- bounds: no agent goes on for ever
- turns: an event -> the agent's answer, in one conversation
- json_answers: an answer that must be JSON
- replies: how an answer, or why there is none, is told
- queue: the messages of a batch, each answered or failed for itself
- composition: all of it, made of the environment

`stackroom_agents.batch_handler` is the function. Imports stackroom and Strands; what it needs of
AWS it gets from stackroom.aws.
"""
