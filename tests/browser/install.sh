#!/bin/sh
# Chromium for tests/browser, if there is none at $CHROMIUM: Debian's package, which takes root.
#
# Debian keeps no older version of it than the latest, so none can be pinned; Playwright, which is
# (requirements.lock), drives any. Where it can't be installed here this says what to do and ends well:
# all other tests need no browser, and those that do say the same.
set -eu
usual=/usr/bin/chromium
wanted=${CHROMIUM:-$usual}
test ! -x "$wanted" || exit 0

tell() {
    echo "no Chromium at $wanted, so tests/browser will fail: $1" >&2
    exit 0
}

test "$wanted" = "$usual" || tell "set CHROMIUM to where one is, or leave it out"
command -v apt-get >/dev/null || tell "install one, and set CHROMIUM to where it is"
test "$(id -u)" = 0 || tell "run \`sudo make browser\`, or set CHROMIUM to where one is"
# Ubuntu's package of that name is a snap, which has no place in a container.
. /etc/os-release
test "$ID" = debian || tell "install Chrome or Chromium, and set CHROMIUM to where it is"

echo "installing chromium for tests/browser"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq --yes --no-install-recommends chromium >/dev/null
test -x "$usual" || tell "apt-get has installed it elsewhere; set CHROMIUM to where"
"$usual" --version
