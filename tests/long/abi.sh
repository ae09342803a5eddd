#!/bin/sh
# What compilers do with the arguments and results of 1,000 functions that are made up, of the seed LONG_FIRST_SEED (1001 if
# unset); `make check` has some of another seed (tests/unit/abi_real.c, tests/unit/abi_compilers.py).
exec "${PYTHON:-python3}" "$(dirname "$0")/../unit/abi_compilers.py" "${LONG_FIRST_SEED:-1001}" 1000
