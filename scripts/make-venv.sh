#!/bin/sh
# Make .venv with the given Python, or say in one sentence why it cannot be made.
set -eu
python=$1

command -v "$python" >/dev/null || {
    echo "Tickover needs Python 3.11 or newer, and '$python' is not here: install it, or name another with 'make run PYTHON=...'." >&2
    exit 1
}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "Tickover needs Python 3.11 or newer; '$python' is $("$python" -V): name another with 'make run PYTHON=...'." >&2
    exit 1
}
# Debian keeps what venv needs in a package of its own.
"$python" -c 'import ensurepip' 2>/dev/null || {
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq && apt-get install -qq -y python3-venv >/dev/null
    else
        echo "Python's venv is not installed. On Debian or Ubuntu: sudo apt-get install python3-venv" >&2
        exit 1
    fi
}
"$python" -m venv --clear .venv
