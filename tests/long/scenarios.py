#!/usr/bin/env python3
"""The combinations of targets, builds and modes that tests/scenarios/run.py leaves out of `make check` (share() in
tests/scenarios/table.py)."""

import os
import sys

run = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'scenarios', 'run.py')
sys.exit(os.spawnv(os.P_WAIT, sys.executable, [sys.executable, run, '--rest']))
