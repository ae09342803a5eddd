#!/bin/sh
# Builds the Debian packages as users get them, optimised and with packages of debug symbols; `make check` builds them
# without optimisation and without debug symbols (tests/install/debian.py).
PACKAGE_OPTIONS=nocheck exec "${PYTHON:-python3}" "$(dirname "$0")/../install/debian.py"
