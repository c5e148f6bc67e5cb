#!/bin/sh
# From a bare machine to an answer, with the wheel alone: no checkout, no make, no Node, no AWS account.
#
#   sh newcomer.sh stackroom-0.2.0-py3-none-any.whl     needs Python 3.11 or newer, or uv
#
# Everything goes into a new folder, which is removed at the end. PORT is the first of four in a row.
set -eu
wheel=$1
port=${PORT:-4566}
home=$(mktemp -d)
stackroom="$home/env/bin/stackroom"
trap 'status=$?; "$stackroom" down >/dev/null 2>&1 || true; rm -rf "$home"; exit $status' EXIT
export STACKROOM_STATE_DIR="$home/state"

if command -v uv >/dev/null; then
    uv venv --quiet "$home/env"
    uv pip install --quiet --python "$home/env/bin/python" "$wheel"
else
    python3 -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Stackroom needs Python 3.11 or newer, and python3 is %d.%d: install a newer one, or uv" % sys.version_info[:2])'
    python3 -m venv "$home/env"
    "$home/env/bin/python" -m pip install --quiet "$wheel"
fi

cd "$home"
"$stackroom" up --port "$port" >up.log 2>&1 &
up=$!
until "$stackroom" status >/dev/null 2>&1; do
    kill -0 "$up" 2>/dev/null || { cat up.log >&2; exit 1; }
    sleep 1
done

echo "The boathouse opens at half past six; its key hangs behind the green door." >boathouse.txt
"$stackroom" drop boathouse.txt --user alice --catalog notes --wait
"$stackroom" ask "when does the boathouse open?" --user alice

# The same in a browser: its first page, with all that it loads.
"$home/env/bin/python" - "http://127.0.0.1:$((port + 3))" <<'EOF'
import re, sys
from urllib.request import urlopen

page = urlopen(f"{sys.argv[1]}/sign-in").read().decode()
loaded = re.findall(r'(?:src|href)="(/static/[^"]+)"', page)
size = sum(len(urlopen(sys.argv[1] + each).read()) for each in loaded)
print(f"the console at {sys.argv[1]}/ loads {len(loaded)} files of {size:,} bytes")
EOF
