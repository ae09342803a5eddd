"""Whole runs of real programs of one busy thread: by default, always on one CPU with the tracer, and never."""

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
    """Seconds of the whole run."""
    command = [FUNCTRACE, '-q', '-b', '16', '--cpu=' + placement, '-o', room.path('trace')] + program.command
    start = time.monotonic()
    done = subprocess.run(command, cwd=room.folder, input=program.data.encode(), capture_output=True, timeout=300,
                          check=False)
    if done.returncode:
        raise Failure('%s ended with status %d' % (program.name, done.returncode))
    return time.monotonic() - start


def measured(room, program, rounds):
    """{placement: (seconds, median of the rounds; of the fastest)}, taken by turns; or why not."""
    if not shutil.which(program.command[0]):
        return program.command[0] + ' is not installed'
    samples = {name: [] for name in PLACEMENTS}
    for _ in range(rounds):
        for name in PLACEMENTS:
            samples[name].append(once(room, program, name))
    return {name: (median(mine), min(mine)) for name, mine in samples.items()}
