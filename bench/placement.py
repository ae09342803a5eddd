"""Measures whole runs of real programs with one busy thread, for each value of --cpu: `auto` is the default, with `pin`
the thread is always on the tracer's CPU, with `free` it may run on any CPU."""

import shutil
import subprocess
import sys
import time

from programs import FUNCTRACE, Failure, median

PLACEMENTS = ('pin', 'auto', 'free')

PERL = 'my $x; for (1..8000) { $x = "a" x (200 + $_ % 3000); my @l = (1..3); }'
PYTHON = 'for i in range(12000): bytearray(2000 + i % 777)'
SQL = 'PRAGMA journal_mode=MEMORY; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); BEGIN;' + \
    ''.join("INSERT INTO t VALUES(%d, '%s');" % (i, 'text' * (i % 20)) for i in range(2000)) + \
    'COMMIT; CREATE INDEX i ON t(b); SELECT count(*), sum(length(b)) FROM t;'


class Program:
    def __init__(self, name, command, data=''):
        self.name, self.command, self.data = name, command, data


PROGRAMS = [Program('perl', ['perl', '-e', PERL]), Program('python3', [sys.executable, '-S', '-c', PYTHON]),
            Program('sqlite3', ['sqlite3'], SQL)]


def once(room, program, placement):
    """Returns the duration of the whole run in seconds."""
    command = [FUNCTRACE, '-q', '-b', '16', '--probes=breakpoints', '--cpu=' + placement, '-o', room.path('trace')]
    command += program.command
    start = time.monotonic()
    done = subprocess.run(command, cwd=room.folder, input=program.data.encode(), capture_output=True, timeout=300,
                          check=False)
    if done.returncode:
        raise Failure('%s ended with status %d' % (program.name, done.returncode))
    return time.monotonic() - start


def measured(room, program, rounds):
    """Runs the program with each placement in each round. Returns {placement: (median, minimum)} in seconds, or a text
    that says why the program cannot be measured."""
    if not shutil.which(program.command[0]):
        return program.command[0] + ' is not installed'
    samples = {name: [] for name in PLACEMENTS}
    for _ in range(rounds):
        for name in PLACEMENTS:
            samples[name].append(once(room, program, name))
    return {name: (median(mine), min(mine)) for name, mine in samples.items()}
