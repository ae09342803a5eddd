#!/usr/bin/env python3
"""What looks for something again and again, with all its rounds: races in scenarios, changed bytes of traces. `make check` does
a tenth of them."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = ['again and again', 'anew', 'while it is attached to', 'under load', 'SIGTERM to functrace', 'while it attaches', 'engine: ',
         'threads that allocate', 'the engine is killed', '16 threads', '8 busy threads']
CHANGED = ['packed.py', 'damage.py', 'model.py']


def main():
    commands = [[os.path.join(HERE, '..', 'scenarios', 'run.py'), '--', *PARTS]] + [[os.path.join(HERE, '..', 'post', name)] for name in CHANGED]
    environment = dict(os.environ, CHECK_LONG='1')
    return max(subprocess.run([sys.executable, *command], env=environment, check=False).returncode for command in commands)


if __name__ == '__main__':
    sys.exit(main())
