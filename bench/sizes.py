"""Measures the size of traces in bytes per event, plain and compressed. To the server, functrace attaches while clients
use it."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

from programs import FUNCTRACE, Failure, median

KINDS = [('', []), ('-z', ['-z']), ('-zgz', ['-zgz'])]
EVENTS = re.compile(r': ([\d,]+) events?')

PYTHON = 'import json; d = {str(i): [i] * (i % 50) for i in range(3000)}; json.loads(json.dumps(d))'
SQL = ("create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < 8000) insert into t "
       "select x, hex(x * 7919) from c; create index i on t(b); select count(*) from t where b like '%3%';")
NODE = ('let a = []; for (let i = 0; i < 20000; i++) a.push({i, s: "x" + i}); JSON.parse(JSON.stringify(a));'
        'require("zlib").gzipSync("abc".repeat(1e6))')
PROGRAMS = [('python3', [os.path.realpath(sys.executable), '-S', '-c', PYTHON]), ('sqlite3', ['sqlite3', ':memory:', SQL]),
            ('git log --stat', ['git', '-C', os.path.dirname(os.path.abspath(__file__)), 'log', '--stat', '-30']),
            ('node', ['node', '-e', NODE])]


def events_of(text):
    found = EVENTS.search(text)
    if not found or found.group(1) == '0':
        raise Failure('functrace printed: ' + text[-100:])
    return int(found.group(1).replace(',', ''))


def launched(room, command, options):
    """Traces a program from its start. Returns the size of the trace in bytes, the number of events, and the
    seconds."""
    path = room.path('sized')
    start = time.monotonic()
    done = subprocess.run([FUNCTRACE, '-o', path] + options + command, cwd=room.folder, capture_output=True, timeout=600,
                          env=dict(os.environ, PYTHONMALLOC='malloc'), check=False)
    return os.stat(path).st_size, events_of(done.stderr.decode()), time.monotonic() - start


def attached(room, options, seconds):
    """Attaches to a redis server whose clients send a request as soon as the last one was answered. Return value as
    launched()."""
    path, socket = room.path('sized'), room.path('socket')
    server = subprocess.Popen(['redis-server', '--port', '0', '--unixsocket', socket, '--save', ''],
                              stdout=subprocess.DEVNULL)
    try:
        while not os.path.exists(socket):
            time.sleep(0.05)
        tracer = subprocess.Popen([FUNCTRACE, '-o', path, '-t', str(server.pid)] + options, stderr=subprocess.PIPE)
        if b'attached' not in tracer.stderr.readline():
            raise Failure('functrace did not attach to redis-server')
        start = time.monotonic()
        subprocess.run(['timeout', str(seconds), 'redis-benchmark', '-s', socket, '-q', '-l', '-r', '10000', '-t',
                        'set,lpush,hset,zadd'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        taken = time.monotonic() - start
        tracer.send_signal(signal.SIGINT)
        text = tracer.communicate(timeout=60)[1].decode()
        return os.stat(path).st_size, events_of(text), taken
    finally:
        server.kill()
        server.wait()


def show(room, rounds, seconds):
    """Prints the table. Returns {program: bytes per event with -z}."""
    result = {}
    print('%-16s %10s %s' % ('', 'events', ''.join('%22s' % ('functrace ' + name) for name, _ in KINDS)))
    cases = [(name, command[0], lambda options, c=command: launched(room, c, options)) for name, command in PROGRAMS]
    cases.append(('redis-server', 'redis-benchmark', lambda options: attached(room, options, seconds)))
    for name, needs, run in cases:
        if not shutil.which(needs):
            print('%-16s %s is not installed' % (name, needs))
            continue
        taken = [[run(options) for _, options in KINDS] for _ in range(rounds)]
        sizes = [median([found[kind][0] / found[kind][1] for found in taken]) for kind in range(len(KINDS))]
        # The server always runs for the same time, so events per second show the cost of tracing it.
        speeds = [median([found[kind][1] / found[kind][2] for found in taken]) for kind in range(len(KINDS))]
        print('%-16s %10d %s' % (name, taken[0][0][1], ''.join(
            '%9.2f B, %6.0f k/s' % (size, speed / 1000) for size, speed in zip(sizes, speeds))), flush=True)
        result[name] = sizes[1]
    return result
