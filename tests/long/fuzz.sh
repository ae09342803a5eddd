#!/bin/sh
# Each reader of bytes from outside is fuzzed for LONG_SECONDS (60 if unset), with a seed of chance; `make check` does so for
# some seconds, with the same seed each time (tests/fuzz/short.sh).
exec "$(dirname "$0")/../fuzz/run" "${LONG_SECONDS:-60}"
