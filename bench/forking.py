"""Measures programs with children: bare forks, executions, a server that forks, a build. In each round every tracer
runs once; the ratios compare them with strace -f."""

import os
import socket
import tempfile
import time

import report
from programs import FUNCTRACE, Failure, Target, built, median, target

TRACERS = [
    ('native', []),
    ('functrace', [FUNCTRACE, '-q', '-o', '{folder}']),
    ('functrace -F', [FUNCTRACE, '-q', '-F', '-o', '{folder}']),
    ('strace -f -e trace=none', ['strace', '-f', '-e', 'trace=none', '-o', '/dev/null']),
    ('strace -f', ['strace', '-f', '-o', '/dev/null']),
]
BASE = 'strace -f -e trace=none'


def by_turns(rounds, once):
    """Calls once() with each tracer's command in each round. Returns {label: [results]}; None instead of the list if
    the tracer cannot be run."""
    found = {label: [] for label, _ in TRACERS}
    for _ in range(rounds):
        for label, tracer in TRACERS:
            if found[label] is None:
                continue
            # The traces are in memory, because ext4 becomes slow after thousands of files were deleted.
            with tempfile.TemporaryDirectory(dir='/dev/shm' if os.access('/dev/shm', os.W_OK) else None) as folder:
                try:
                    found[label].append(once([word.format(folder=folder) for word in tracer]))
                except (Failure, OSError) as error:
                    report.missing(label, str(error))
                    found[label] = None
    return found


def show(found):
    """Prints a table. found: {label: [(wall ns, cpu ns or None)]}. Returns {label: (ratio of wall, ratio of cpu)}."""
    base = found[BASE] or found['native']
    print('%-34s %10s %9s %9s   %10s %9s' % ('', 'wall us', 'x native', 'x strace', 'cpu us', 'x strace'))
    ratios = {}
    for label, samples in found.items():
        if not samples:
            continue
        wall = median([s[0] / b[0] for s, b in zip(samples, base)])
        cpu = samples[0][1] and median([s[1] / b[1] for s, b in zip(samples, base)])
        ratios[label] = wall, cpu
        print('%-34s %10s %9.2f %9.2f   %10s %9s' % (
            label, report.us(median([s[0] for s in samples])),
            median([s[0] / n[0] for s, n in zip(samples, found['native'])]), wall,
            report.us(median([s[1] for s in samples])) if cpu else '', '%.2f' % cpu if cpu else ''), flush=True)
    return ratios


def children(room, name, rounds, count):
    """Measures a target that forks, or executes a program, `count` times."""
    def once(tracer):
        result = room.run(tracer + target(name, pairs=count, rounds=1), timeout=120)
        return result.wall, result.cpu
    return by_turns(rounds, once)


def ask(port, word):
    with socket.create_connection(('127.0.0.1', port), 20) as connection:
        connection.sendall(word)
        return connection.recv(1)


def server(room, objects, calls, rounds, count):
    """Measures `count` connections in sequence to a server that forks a child for each. Each tracer starts a new server
    in each round."""
    def once(tracer):
        program = Target(room, tracer + [built('targets/server'), str(calls)] + objects)
        port = int(program.first[0])
        ask(port, b'g')
        start = time.monotonic()
        for _ in range(count):
            if ask(port, b'g') != b'o':
                raise Failure('the server did not answer')
        wall = (time.monotonic() - start) / count * 1e9
        ask(port, b'q')
        program.close()
        return wall, None
    return by_turns(rounds, once)


def project(room, files):
    folder = room.path('project')
    os.mkdir(folder)
    names = ['part%d' % i for i in range(files)]
    for i, name in enumerate(names):
        with open(os.path.join(folder, name + '.c'), 'w') as file:
            file.write('int %s(int n);\nint %s(int n)\n{\n\treturn n * %d;\n}\n' % (name, name, i + 2))
    with open(os.path.join(folder, 'Makefile'), 'w') as file:
        file.write('all: %s\n%%.o: %%.c\n\t@cc -c -o $@ $<\n' % ' '.join(name + '.o' for name in names))
    return folder


def build(room, files, rounds):
    folder = project(room, files)

    def once(tracer):
        start = time.monotonic()
        child = room.start(tracer + ['make', '-s', '-B', '-j2', '-C', folder])
        if child.wait(300):
            raise Failure('make ended with status %d' % child.returncode)
        wall = (time.monotonic() - start) / files * 1e9
        room.forget(child)
        return wall, None
    return by_turns(rounds, once)
