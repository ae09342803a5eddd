#!/usr/bin/env python3
"""Servers at work are scanned LONG_SCANS times (100 by default) each, while clients send requests and check each
answer: the servers live, the answers are right, and each scan has a consistent copy. Prints TAP; servers that are not
installed are skipped. LONG_SECONDS limits the whole test. Arguments: only servers whose names contain one of these
words."""

import collections
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
os.environ['CHECK_LONG'] = '1'  # read by rounds.py
sys.path.insert(0, os.path.join(HERE, '..', 'scenarios'))

import builds
import servers
from processes import FUNCTRACE, Failure, Room, has_ended, may_attach, state_of, wait_for

SCANS = int(os.environ.get('LONG_SCANS', '100'))
SECONDS = float(os.environ.get('LONG_SECONDS', '3600'))


class Scans:
    """The results of a server's scans."""

    def __init__(self):
        self.pauses, self.unused, self.inside, self.threads, self.again = [], collections.Counter(), 0, 0, 0

    def one(self, room, server, pid):
        """Scans once; returns problems."""
        done = room.run([FUNCTRACE, '--scan=json', '-t', str(pid)], timeout=600)
        if has_ended(pid) and server.child.poll() is None and pid != server.child.pid:
            self.again += 1  # a backend whose client has ended
            return []
        if done.status or done.err:
            return ['status %d: %s' % (done.status, done.err.decode(errors='replace'))]
        if state_of(pid) not in 'RSD':
            return ['process %d is in state %s' % (pid, state_of(pid))]
        found = json.loads(done.out)
        self.pauses.append(found['pause_ns'] / 1e6)
        self.unused[found['inconsistent_copies']] += 1
        self.threads = max(self.threads, found['threads'])
        if found['still_reachable']['blocks'] < 10:
            return ['hardly a block: %s' % done.out[:500]]
        return []

    def words(self):
        pauses = sorted(self.pauses) or [0]
        return '%d scans of up to %d threads, pauses %.1f ms, at most %.1f; copies not used: %s%s' % (
            len(self.pauses), self.threads, pauses[len(pauses) // 2], pauses[-1],
            ', '.join('%d in %d' % (copies, scans) for copies, scans in sorted(self.unused.items()) if copies) or 'none',
            '; %d times the process had ended' % self.again if self.again else '')


def scan_often(room, server, seconds):
    scans, problems, end = Scans(), [], time.monotonic() + seconds
    while len(scans.pauses) < SCANS and time.monotonic() < end and len(problems) < 5 and not server.clients.problems:
        before = server.clients.right
        problems += scans.one(room, server, next(server.scanned))
        if not isinstance(server, servers.Postgres):  # its clients may wait longer
            wait_for('an answer after a scan', lambda: server.clients.right > before or server.clients.problems)
    if len(scans.pauses) < SCANS and not problems:
        problems.append('there was only time for %d scans' % len(scans.pauses))
    return problems, scans.words()


SERVERS = [
    ('python3', servers.python, scan_often),
    ("redis with the C library's malloc", servers.built_redis, scan_often),
    ('redis with jemalloc', servers.installed_redis, scan_often),
    ('postgres', servers.Postgres, scan_often),
    ('nginx', servers.nginx, scan_often),
    ('node', servers.node, scan_often),
    ('java', servers.java, scan_often),
]


def run(make, look, seconds):
    """Returns (problems, remark)."""
    room, problems, remark = Room(), [], ''
    try:
        server = make(room)
        try:
            problems, remark = look(room, server, seconds)
        finally:
            problems = problems + server.end()
        remark += '; %d %s, all right' % (server.clients.right, 'runs' if isinstance(server, servers.Postgres) else 'requests')
    except Failure as failure:
        problems = problems + [str(failure)]
    finally:
        problems = problems + room.close()
    return problems, remark


def main():
    reason = may_attach()
    if reason:
        print('1..0 # SKIP cannot attach here: ' + reason)
        return 77
    chosen = [row for row in SERVERS if not sys.argv[1:] or any(word in row[0] for word in sys.argv[1:])]
    print('1..%d' % len(chosen), flush=True)
    failed = 0
    for index, (name, make, look) in enumerate(chosen, 1):
        try:
            problems, remark = run(make, look, SECONDS / len(chosen))
        except builds.Skip as skip:
            print('ok %d - %s # SKIP %s' % (index, name, skip), flush=True)
            continue
        failed += bool(problems)
        print('%s %d - %s: %s' % ('not ok' if problems else 'ok', index, name, remark), flush=True)
        for problem in problems:
            print('\n'.join('#   ' + line for line in problem.split('\n')), flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
