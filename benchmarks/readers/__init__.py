"""
How well each format's reader gets what people see in a file.

    make bench-readers DATA=FOLDER              words, headings and cells, against the truth
    make bench-readers ARGS="--cases FOLDER"    files whose text goes missing: is it found, or told?
    make bench-readers ARGS="--folder FOLDER"   any files: what crashes, hangs or is silent

- truths: a text against the text that it should be
- peers: what other libraries make of the same files, where they are installed
- cases: which passage answers, judged by patterns
- folders: one file at a time, with the time and memory that it took
"""
