"""What is measured on a running process that functrace attaches to."""

import collections
import os
import re
import shutil
import signal
import subprocess
import threading
import time

from programs import (FUNCTRACE, Failure, Target, attach, built, descendants, let_go, median, status_field, target,
                      tracer_of, wait_until)

CALL = re.compile(r'^(\d+)\s+(\w+)\((?:(PTRACE_\w+))?')


# ---- System calls a pair ----

def count_calls(path, start, tid):
    """{name: calls} that the thread made, in the log behind `start` bytes; ptrace by request."""
    counts = collections.Counter()
    with open(path) as file:
        file.seek(start)
        for line in file:
            found = CALL.match(line)
            if found and int(found.group(1)) == tid:
                counts[(found.group(3) or found.group(2)).replace('PTRACE_', '')] += 1
    return counts


def syscalls(room, options, name='malloc', pairs=400):
    """[(name, calls a pair)] of functrace's tracing thread, the most frequent first, as strace counts them. strace
    starts functrace, for the guard holds that thread as soon as there is one: nobody could attach to it then."""
    if not shutil.which('strace'):
        raise Failure('strace is not installed')
    program = Target(room, target(name, frames=17) + ['--ask'])
    pid = program.child.pid
    log = room.path('strace')
    watcher = room.start(['strace', '-f', '-o', log, FUNCTRACE, '-q', '-o', room.path('attached')] + list(options) +
                         ['-t', str(pid)])
    wait_until('functrace to attach', lambda: watcher.poll() is not None or tracer_of(pid)[0])
    if watcher.poll() is not None:
        room.forget(watcher)
        raise Failure('functrace did not attach under strace')
    traced(program, least=20000)
    tid, _ = tracer_of(pid)
    start = os.stat(log).st_size
    program.round(pairs)
    counts = count_calls(log, start, tid)
    os.kill(descendants(watcher.pid)[0], signal.SIGINT)
    watcher.wait(20)
    room.forget(watcher)
    program.close()
    return [(name, calls / pairs) for name, calls in counts.most_common() if calls / pairs > 0.005]


def traced(program, pairs=20, least=2000):
    """Runs pairs until they take as long, in ns, as only traced ones do."""
    wait_until('breakpoints', lambda: program.round(pairs)[0] > least)


def untraced(program):
    wait_until('the breakpoints to be out', lambda: program.round(1000)[0] < 1000)


# ---- The tracer's memory ----

def memory(room, events_list, cpu):
    """[(events, VmRSS, VmHWM)] in KiB of the engine."""
    trace = room.path('memory')
    program = Target(room, [FUNCTRACE, '-q', '-b', '16', '-o', trace] + target('malloc', frames=17) + ['--ask'], cpu)
    child = wait_until('the target', lambda: [p for p in descendants(program.child.pid) if tracer_of(p)[0]])[0]
    _, engine = tracer_of(child)
    if status_field(engine, 'Name') != 'ft-engine':
        raise Failure('process %d is not the engine' % engine)
    done, found = 0, []
    for events in events_list:
        while done < events:
            part = min(events - done, 10 ** 6)
            program.round(part // 2, 600)
            done += part
            os.truncate(trace, 0)  # what has been written is not needed
        found.append((events,) + tuple(int(status_field(engine, n).split()[0]) for n in ('VmRSS', 'VmHWM')))
    program.close()
    return found


# ---- Attaching to a crowd ----

class Reader(threading.Thread):
    """Empties a pipe; remembers when the first event came."""

    def __init__(self, stream):
        super().__init__(daemon=True)
        self.stream, self.first, self.events = stream, None, 0
        self.start()

    def run(self):
        for line in self.stream:
            if line[:1].isdigit():
                self.first = self.first or time.monotonic()
                self.events += 1


def copies(room, count):
    folder = room.path('objects')
    os.mkdir(folder)
    names = [os.path.join(folder, 'object-%03d.so' % i) for i in range(count)]
    for name in names:
        shutil.copy(built('targets/tiny.so'), name)
    return names


def gap(program):
    """us: the largest gap since the last time, and the largest without the waits for a processor."""
    program.send('')
    return tuple(int(x) / 1000 for x in program.line('gap'))


def crowd(room, cycles, threads=64, objects=200, window=1.0):
    """{what: median}: seconds to the first event and to be let go of, the gaps (us) in windows of the same length."""
    program = Target(room, [built('targets/crowd'), str(threads)] + copies(room, objects))
    figures = collections.defaultdict(list)
    for _ in range(cycles):
        gap(program)
        time.sleep(window)
        figures['untraced'].append(gap(program))
        start = time.monotonic()
        tracer = room.start([FUNCTRACE, '-q', '-f', 'text', '-o', '-', '-t', str(program.child.pid)])
        reader = Reader(tracer.stdout)
        wait_until('the first event', lambda: reader.first or tracer.poll() is not None)
        time.sleep(max(0, window - (time.monotonic() - start)))
        figures['attach'].append(gap(program))
        figures['first'].append((reader.first or start) - start)
        time.sleep(window)
        figures['traced'].append(gap(program))
        start = time.monotonic()
        tracer.send_signal(signal.SIGINT)
        tracer.wait(20)
        figures['letting go'].append(time.monotonic() - start)
        reader.join(5)
        room.forget(tracer)
        time.sleep(max(0, window - (time.monotonic() - start)))
        figures['detach'].append(gap(program))
    program.close()
    result = {}
    for name, values in figures.items():
        if isinstance(values[0], tuple):
            result[name] = tuple(median([v[i] for v in values]) for i in (0, 1))
            result[name + ' worst'] = max(v[1] for v in values)
        else:
            result[name] = median(values)
    return result


# ---- Paused ----

def paused(room, cycles, cpu, pairs=1000000, rounds=5):
    """(untraced, paused) in ns a pair, and the median of their ratios, taken by turns on one process."""
    program = Target(room, target('malloc', pin=cpu) + ['--ask'])
    before, after, ratios = [], [], []
    for _ in range(cycles):
        untraced(program)
        bare = median([program.round(pairs)[1] for _ in range(rounds)])
        tracer = attach(room, program.child.pid, ['-S', 'USR1'])
        traced(program)
        tracer.send_signal(signal.SIGUSR1)
        untraced(program)
        kept = median([program.round(pairs)[1] for _ in range(rounds)])
        let_go(room, tracer)
        before.append(bare)
        after.append(kept)
        ratios.append(kept / bare)
    program.close()
    return median(before), median(after), median(ratios)


def unwinding(room, frames, cpu):
    """us for the read of a stack and the walk of that many frames, rows warm; and by libunwind."""
    child = subprocess.run([built('unwind-cost'), str(frames), str(cpu)], capture_output=True, text=True, check=False,
                           cwd=room.folder, timeout=60)
    found = dict(line.split() for line in child.stdout.splitlines() if len(line.split()) == 2)
    if 'rows' not in found:
        raise Failure('unwind-cost: ' + (child.stderr or child.stdout).strip())
    return {name: float(value) for name, value in found.items()}
