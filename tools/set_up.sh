#!/usr/bin/env bash
# Make a virtual environment that has lakewright, editable, and everything its development needs, each at its pinned version.
set -euo pipefail

venv="$1"
echo "Setting up $venv with $PYTHON; the first time this takes a few minutes."
"$venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || "$PYTHON" -m venv --clear "$venv"

install() {
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "$@"
}
install $(grep -E '^(pip|setuptools)==' constraints.txt)
install --build-constraint constraints.txt --editable '.[dev]'
