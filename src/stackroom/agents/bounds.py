"""What a run may take: no agent talks on for ever, at its operator's expense."""

# Input and output together, as models bill them; each turn is told all that was said before. Ten
# turns over passages of some 4,000 tokens each come to about this. A turn is not broken off, so
# that a run may take one turn more.
MOST_TOKENS = 250_000
# The agents that anybody has shown us ask less than ten times for an answer.
MOST_TOOL_CALLS = 20
# Of the model. Each turn but the last calls a tool, unless it calls one that it hasn't got.
MOST_TURNS = 25
# A person waits for it. A function has 15 minutes at most:
# https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
MOST_SECONDS = 300.0
# To end what is at work when its time is over, and to write down how it ended. After that time
# nobody ends it any more: whoever began it is gone.
SECONDS_TO_END = 30.0

# Of a user's at the same time: what somebody starts by a loop, or by holding a key down.
MOST_AT_ONCE = 5
LONGEST_MESSAGE = 10_000  # characters

# An item of DynamoDB has 400 KB at most, with its names [DynamoDB: Quotas]. What is above this in
# it, the message and the rest, takes below 50 KB.
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
MOST_STEP_BYTES = 340_000
# Of one step, so that one alone doesn't leave the others short.
MOST_BYTES_OF_A_STEP = 64_000
# What every step needs though nothing is left of its texts: names, times, what was asked.
LEAST_BYTES_OF_A_STEP = 5_000
MOST_STEPS = MOST_TURNS + MOST_TOOL_CALLS
