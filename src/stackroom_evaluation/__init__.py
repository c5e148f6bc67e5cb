"""
Evaluation of answers: questions with known answers, asked as an agent asks them.

- question_file: the file of questions and their answers, one JSON object per line
- judging: whether a passage answers a question, and whether its page is right
- measures: the rank of the right passage, by ir-measures, and run files that anyone can score
- evaluation: a run of all questions through the tool, with the outcome of each
- comparing: a paired comparison of two runs, with its significance
- plain_retrieve: Bedrock's plain Retrieve, to compare the tool with
- least_score: a minimum score for passages, derived from the scores of a run
- drafting: questions proposed from documents, for a person to accept
- kept: ratings of answers in the console and by agents, as questions to accept
- spending: the cost of asking on AWS

`stackroom evaluate` is the command line, and `make bench-answers` uses the same measures.
"""
