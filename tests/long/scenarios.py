#!/usr/bin/env python3
"""Runs all of tests/scenarios/run.py with all rounds, also the combinations of targets, builds and modes and the cases
that `make check` leaves out (share() in tests/scenarios/table.py, tests/scenarios/long.form): once with the kernel's
probes, where this machine allows them, and once with breakpoints (tests/scenarios/ways.py)."""

import os
import sys

run = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'scenarios', 'run.py')
sys.exit(max(os.spawnve(os.P_WAIT, sys.executable, [sys.executable, run],
                        dict(os.environ, CHECK_LONG='1', SCENARIO_PROBES=way)) for way in ('kernel', 'breakpoints')))
