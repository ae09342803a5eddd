#!/usr/bin/env python3
"""The scenarios that look for a race again and again, with all their rounds: `make check` does about a seventh of them."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = ['again and again', 'anew', 'while it is attached to', 'under load', 'SIGTERM to functrace', 'while it attaches', 'engine: ']


def main():
    command = [sys.executable, os.path.join(HERE, '..', 'scenarios', 'run.py'), '--', *PARTS]
    return subprocess.run(command, env=dict(os.environ, SCENARIO_ROUNDS='1'), check=False).returncode


if __name__ == '__main__':
    sys.exit(main())
