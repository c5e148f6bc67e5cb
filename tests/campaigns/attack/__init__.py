"""
Attempts to reach what is another user's, or to act as another, against a real local mode.

- wire: what is sent, as raw HTTP, so that anything can be sent; what came back
- stage: a victim with marked secrets, an attacker with files of their own, what both look like
- oracle: one attempt, what may come of it, and what came of it
- naming, arguing, pretending, overdoing, transferring: the kinds of attempts, generated
- campaign: all of them in turn, and the table
- linked_stage, linked: the same for knowledge bases that an agent was given, by its handler
"""
