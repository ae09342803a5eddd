#!/bin/sh
# Tests how compilers pass arguments and results of 1,000 generated functions, from the seed LONG_FIRST_SEED (1001 by
# default); `make check` tests some of another seed (tests/unit/abi_real.c, tests/unit/abi_compilers.py).
exec "${PYTHON:-python3}" "$(dirname "$0")/../unit/abi_compilers.py" "${LONG_FIRST_SEED:-1001}" 1000
