"""
Whether what answers a question is found: plain Retrieve and the retrieval tool, over many sets.

    make bench-answers                                    the project's own two sets
    make bench-answers DATA=FOLDER                        and published ones, which --help names
    make bench-answers DATA=FOLDER ARGS="--sets chunks,filings --sample 4"     a quick look

- corpus.toml, corpus; questions/, questions: the own documents, of Debian's packages, and what is
  asked of them
- sets: every set's files, its questions, and how an answer to each is judged
- ways: the two ways to ask, and the tool without the documents that answer
- measuring: every question asked, and what came of it
- tables: the figures, and whether a difference is more than chance
- local: a local mode with a catalog for each set, kept in .cache/answers with the vectors
"""
