"""functrace attaches to real programs at work. Each program reads lines, and answers each line with a line that begins
with `=`."""

import os
import select
import subprocess
import sys
import time

import builds
import kinds
import programs
from processes import PATIENCE, TIMEOUT, Failure, Result, Tracer, may_attach

PYTHON = '''
import json, sys, threading
def work(n, results):
    results.append(len(json.dumps({"word%d" % i: "x" * (i * n % 50) for i in range(40)})))
for line in sys.stdin:
    results = []
    threads = [threading.Thread(target=work, args=(n, results)) for n in range(1, 5)]
    for t in threads: t.start()
    for t in threads: t.join()
    print("=%s%s" % (line.strip(), sorted(results)), flush=True)
raise SystemExit(3)
'''

PERL = r'''
$| = 1;
while (<STDIN>) {
    chomp; my %count; $count{$_ % 17} .= "x$_," for 1 .. 100;
    print "=$_", join(" ", map { "$_:" . length $count{$_} } sort { $a <=> $b } keys %count), "\n";
}
exit 4;
'''

SHELL = 'while read -r x; do y=$(echo "$x" | sed s/n/m/); a=; for i in 1 2 3 4 5; do a="$a$y$i"; done; echo "=$a"; done; exit 5'


class Talk:
    """A running program. The test sends it a line, waits for the answer, and only then sends the next line."""

    def __init__(self, room, command, env):
        self.room, self.out = room, b'\n'
        self.child = room.start(command, env, stdin=subprocess.PIPE, bufsize=0)

    def ask(self, line):
        self.child.stdin.write(line)
        before, end = self.out.count(b'\n='), time.monotonic() + TIMEOUT * PATIENCE
        while self.out.count(b'\n=') == before or not self.out.endswith(b'\n'):
            ready, _, _ = select.select([self.child.stdout], [], [], max(end - time.monotonic(), 0))
            data = os.read(self.child.stdout.fileno(), 65536) if ready else b''
            if not data:
                raise Failure('no answer to %r after %r' % (line, self.out[-200:]))
            self.out += data

    def end(self):
        done = self.room.finish(self.child, data=b'')
        return Result(done.status, self.out + done.out, done.err)


def attached(room, command, lines, env=None, at_least=50):
    """The program reads its first line before functrace attaches, and its last line after functrace has detached."""
    reason = may_attach()
    if reason:
        raise builds.Skip(reason)
    plain = Talk(room, command, env)
    for line in lines:
        plain.ask(line)
    plain = plain.end()
    talk = Talk(room, command, env)
    talk.ask(lines[0])
    tracer = Tracer(room, talk.child.pid, ['-r'])
    tracer.planted()
    for line in lines[1:-1]:
        talk.ask(line)
    problems = tracer.let_go()
    talk.ask(lines[-1])
    problems += kinds.compare_runs(plain, talk.end())
    traces, more = kinds.read_traces(room.path('traces'))
    problems += more
    events = sum(len(t.events) for t in traces)
    named = sum(1 for t in traces for e in t.events if any(name for _, name in e.frames))
    if events < at_least:
        problems.append('only %d events, expected at least %d; functrace said: %s' % (
            events, at_least, tracer.err.decode(errors='replace')[-800:]))
    return problems, '%d events, %d of them with names' % (events, named)


def numbers(form='n%d\n', count=6):
    return [(form % i).encode() for i in range(1, count + 1)]


def python(room):
    return attached(room, [os.path.realpath(sys.executable), '-c', PYTHON], numbers(), {'PYTHONHASHSEED': '1'}, 200)


def perl(room):
    return attached(room, [kinds.need('perl'), '-e', PERL], numbers(), {'PERL_HASH_SEED': '1', 'PERL_PERTURB_KEYS': '0'}, 500)


def bash(room):
    return attached(room, [kinds.need('bash'), '-c', SHELL], numbers())


def git(room):
    path, env = programs.git_repository(room)
    names = room.run([path, '-C', 'r', 'rev-list', '--objects', '--all'], env).out.split()
    objects = [name + b'\n' for name in names if len(name) == 40][:8]
    return attached(room, [path, '-C', 'r', 'cat-file', '--batch-check==%(objectname) %(objectsize)'], objects, env, 20)


def sqlite(room):
    insert = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) INSERT INTO t SELECT i + %d00, 'text' || i FROM n;" \
             " SELECT '=' || count(*) || max(b) FROM t;\n"
    lines = [b"CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); SELECT '=made';\n"] + numbers(insert)
    return attached(room, [kinds.need('sqlite3'), '-interactive', '-cmd', ".prompt '' ''", ':memory:'], lines)


CASES = [
    ('python3 with threads, attached to', python),
    ('perl, attached to', perl),
    ('bash, attached to', bash),
    ('git, attached to', git),
    ('sqlite3, attached to', sqlite),
]
