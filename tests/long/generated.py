#!/usr/bin/env python3
"""Generated programs, as in tests/scenarios/generated.py of `make check`, but LONG_SEEDS of them (2,000 by default),
from seed LONG_FIRST_SEED (1,001) on."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'scenarios'))

import generated


def main():
    first, count = int(os.environ.get('LONG_FIRST_SEED', '1001')), int(os.environ.get('LONG_SEEDS', '2000'))
    return 1 if generated.run(first, count) else 0


if __name__ == '__main__':
    sys.exit(main())
