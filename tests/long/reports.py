#!/usr/bin/env python3
"""Figures of random traces, as in tests/post/reports.py of `make check`, but of LONG_SEEDS traces (300 by default),
from seed LONG_FIRST_SEED (1,001) on."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'post'))

import reports


def main():
    return reports.run_traces(int(os.environ.get('LONG_SEEDS', '300')), int(os.environ.get('LONG_FIRST_SEED', '1001')))


if __name__ == '__main__':
    sys.exit(main())
