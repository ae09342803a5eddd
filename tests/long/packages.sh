#!/bin/sh
# Debian packages as users get them, optimised and with those of debug symbols; `make check` has them built without
# both (tests/install/debian.py).
PACKAGE_OPTIONS=nocheck exec "${PYTHON:-python3}" "$(dirname "$0")/../install/debian.py"
