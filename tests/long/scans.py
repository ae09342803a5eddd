#!/usr/bin/env python3
"""1000 runs with planted lost blocks, in 1 to 16 threads, scanned while they run and at the end of a trace: all lost
blocks are reported, and no others. SCAN_RUNS sets the number of runs. Prints TAP."""

import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ.get('TOP_SRCDIR', '.'), 'tests', 'scenarios'))

import builds
from processes import probes_in_turn

FUNCTRACE = os.environ.get('FUNCTRACE', os.path.join(os.getcwd(), 'functrace'))
POSTPROC = os.environ.get('FUNCTRACE_POSTPROC', os.path.join(os.getcwd(), 'functrace-postproc'))


def outside(command, _):
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        done = subprocess.run([FUNCTRACE, '--scan=json', '-t', str(child.pid)], capture_output=True, timeout=600)
        child.stdin.close()
        if child.wait(timeout=600) or done.returncode:
            return 'status %d, %d: %s' % (child.returncode, done.returncode, done.stderr.decode())
    found = json.loads(done.stdout)
    return {name: found[name + '_lost']['blocks'] for name in ('definitely', 'indirectly', 'possibly')}


def at_the_end(command, index):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'trace')
        done = subprocess.run([FUNCTRACE, '-q', *probes_in_turn(index // 2), '--scan', '-e', 'memory', '-o', path, *command], capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=600)
        if done.returncode:
            return 'status %d: %s' % (done.returncode, done.stderr.decode())
        text = subprocess.run([POSTPROC, '-q', path], capture_output=True, timeout=600).stdout.decode()
    return {**{'definitely': 0, 'indirectly': 0, 'possibly': 0},
            **collections.Counter(re.findall(r'^## lost <1> 0x[0-9a-f]+ (\w+)$', text, re.M))}


def main():
    runs = int(os.environ.get('SCAN_RUNS', '1000'))
    failures = []
    program = builds.target('planted', 'O2')
    for index in range(runs):
        threads, lost, linked = random.randint(1, 16), random.randint(0, 2000), random.randint(0, 3)
        look = (outside, at_the_end)[index % 2]
        found = look([program, str(threads), str(lost), str(linked)], index)
        wanted = {'definitely': lost, 'indirectly': lost * linked, 'possibly': threads}
        if found != wanted:
            failures.append('# %s, %d threads: %s, not %s' % (look.__name__, threads, found, wanted))
    print('\n'.join(failures))
    print('1..1\n%s 1 - %d of %d runs are exact' % ('not ok' if failures else 'ok', runs - len(failures), runs))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
