#!/usr/bin/env python3
"""All unit tests and scenarios on emulated machines with other processors (tests/guest). It takes hours."""

import os
import sys

check = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'guest', 'check.py')
sys.exit(os.spawnv(os.P_WAIT, sys.executable, [sys.executable, check, '--form=long', '--count']))
