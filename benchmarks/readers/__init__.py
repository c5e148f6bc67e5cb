"""
Measures how much of a file's visible text each format's reader gets.

    make bench-readers DATA=FOLDER              words, headings and cells, against the truth
    make bench-readers ARGS="--cases FOLDER"    files that tend to lose text: found, or reported?
    make bench-readers ARGS="--folder FOLDER"   any files: crashes, hangs and missing text

- truths: compares a text with the true one
- peers: the same files in other libraries, if these are installed
- cases: patterns of the passages that answer
- folders: files one at a time, with time and memory
"""
