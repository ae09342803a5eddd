"""Measurements on a running process to which functrace attaches."""

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


# ---- System calls per pair ----

def count_calls(path, start, tid):
    """Returns {name: number of calls} of a thread from the part of strace's log after `start` bytes. Calls of ptrace
    are counted by request."""
    counts = collections.Counter()
    with open(path) as file:
        file.seek(start)
        for line in file:
            found = CALL.match(line)
            if found and int(found.group(1)) == tid:
                counts[(found.group(3) or found.group(2)).replace('PTRACE_', '')] += 1
    return counts


def syscalls(room, options, name='malloc', pairs=400):
    """Returns [(name, calls per pair)] of functrace's tracing thread, the most frequent first, as strace counts them.
    strace starts functrace, because it could not attach later: the guardian traces that thread from its start."""
    if not shutil.which('strace'):
        raise Failure('strace is not installed')
    program = Target(room, target(name, frames=17) + ['--ask'])
    pid = program.child.pid
    log = room.path('strace')
    watcher = room.start(['strace', '-f', '-o', log, FUNCTRACE, '-q', '--probes=breakpoints', '-o',
                          room.path('attached')] + list(options) + ['-t', str(pid)])
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
    """Runs pairs until a pair takes more than `least` ns, as only traced pairs do."""
    wait_until('breakpoints', lambda: program.round(pairs)[0] > least)


def untraced(program):
    wait_until('the breakpoints to be out', lambda: program.round(1000)[0] < 1000)


# ---- The tracer's memory ----

def memory(room, events_list, cpu):
    """Returns [(number of events, VmRSS, VmHWM)] of the engine, in KiB, for each number in events_list."""
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
            os.truncate(trace, 0)  # the trace is not needed
        found.append((events,) + tuple(int(status_field(engine, n).split()[0]) for n in ('VmRSS', 'VmHWM')))
    program.close()
    return found


# ---- Attaching to a process with many threads and objects ----

class Reader(threading.Thread):
    """Reads a pipe to its end in a thread, and stores the time of the first event."""

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
    """Returns the largest gap since the last call, and the largest one without the waits for a processor, in us."""
    program.send('')
    return tuple(int(x) / 1000 for x in program.line('gap'))


def crowd(room, cycles, threads=64, objects=200, window=1.0):
    """Returns {name: median}: the seconds from the start of functrace to the first event, and from SIGINT to its end;
    for each phase, the gaps in a window of `window` seconds, in us, as gap() returns them; and the largest of these
    gaps."""
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


# ---- Paused tracing ----

def paused(room, cycles, cpu, pairs=1000000, rounds=5):
    """Returns the processor time per pair, in ns, of an untraced process, and of the same process while tracing is
    paused, and the median of the ratios. The two states alternate."""
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
    """Returns what bench/unwind-cost prints for a stack of that many frames, as {name: number}: the times in us for
    reading and walking the stack by rows, for reading it alone, and by libunwind."""
    child = subprocess.run([built('unwind-cost'), str(frames), str(cpu)], capture_output=True, text=True, check=False,
                           cwd=room.folder, timeout=60)
    found = dict(line.split() for line in child.stdout.splitlines() if len(line.split()) == 2)
    if 'rows' not in found:
        raise Failure('unwind-cost: ' + (child.stderr or child.stdout).strip())
    return {name: float(value) for name, value in found.items()}
