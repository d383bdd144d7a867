#!/bin/sh
# Create .venv with the given Python, or print why that isn't possible.
set -eu
python=$1

command -v "$python" >/dev/null || {
    echo "Tickover needs Python 3.11 or newer, and '$python' is not installed. Install it, or use another one: make run PYTHON=python3.12" >&2
    exit 1
}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "Tickover needs Python 3.11 or newer, and '$python' is $("$python" -V). Use another one: make run PYTHON=python3.12" >&2
    exit 1
}
# On Debian, venv is a separate package.
"$python" -c 'import ensurepip' 2>/dev/null || {
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq && apt-get install -qq -y python3-venv >/dev/null
    else
        echo "Python's venv is not installed. On Debian or Ubuntu: sudo apt-get install python3-venv" >&2
        exit 1
    fi
}
"$python" -m venv --clear .venv
