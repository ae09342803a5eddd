#!/bin/sh
# Fuzzes each reader of untrusted bytes for LONG_SECONDS (60 by default), with a random seed; `make check` does so for some
# seconds, with the same seed each time (tests/fuzz/short.sh).
exec "$(dirname "$0")/../fuzz/run" "${LONG_SECONDS:-60}"
