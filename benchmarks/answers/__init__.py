"""
Measures how often plain Retrieve and the retrieval tool find answers, over many sets.

    make bench-answers                                    the project's own two sets
    make bench-answers DATA=FOLDER                        also published ones, which --help names
    make bench-answers DATA=FOLDER ARGS="--sets chunks,filings --sample 4"     a quick look

- corpus.toml, corpus; questions/, questions: the own documents, of Debian's packages, and their
  questions
- sets: every set's files, its questions, and how an answer to each is judged
- ways: the two ways to ask, and the tool without the documents that answer
- measuring: the outcomes of all questions
- tables: the figures, and the significance of differences
- local: a local mode with a catalog for each set, kept in .cache/answers with the vectors
"""
