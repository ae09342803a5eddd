#!/usr/bin/env python3
"""Scenarios that repeat a race or damage many times, with all their rounds; `make check` does a tenth of them.
tests/long/unit.py does all rounds of the tests that change bytes."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = ['again and again', 'anew', 'while functrace attaches', 'under load', 'SIGTERM to functrace', 'engine: ',
         'threads that allocate', 'the engine is killed', '16 threads', '8 busy threads']


def main():
    command = [sys.executable, os.path.join(HERE, '..', 'scenarios', 'run.py'), '--', *PARTS]
    return subprocess.run(command, env=dict(os.environ, CHECK_LONG='1'), check=False).returncode


if __name__ == '__main__':
    sys.exit(main())
