#!/usr/bin/env bash
# Which Python can run lakewright? Prints the first that is new enough and can make virtual environments, or nothing.
set -u

for candidate in python3 python3.11 python3.12 python3.13; do
    if "$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        "$candidate" -c 'import sys; print(sys.executable)'
        exit
    fi
done
