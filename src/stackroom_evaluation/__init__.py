"""
How right the answers are: questions whose answers are known, asked as an agent asks them.

- question_file: what is asked and what answers it, a line each, as people write it
- judging: whether a passage answers, and whether its page is right
- measures: how high the right passage ranks, by ir-measures, and runs that anyone can score again
- evaluation: every question asked through the tool, and what came of each
- comparing: two runs in pairs, and whether their difference is more than chance
- plain_retrieve: Bedrock's Retrieve as it is, to compare the tool with
- least_score: below which score a passage need not be shown, found from the scores
- drafting: questions proposed from documents, for a person to accept
- kept: what was said of answers in the console and by agents, as questions to accept
- spending: what asking costs on AWS

`stackroom evaluate` is its command line, and `make bench-answers` measures with the same.
"""
