"""Tests --probes=kernel: traces by probes in the kernel and by breakpoints are equal, with all addresses, and afterwards
the target's text is that of its files."""

import collections
import os
import re
import signal
import threading

import builds
import kinds
import oracle
from errors import as_nobody
from lifecycle import Held, engine_of, need_attach
from processes import FUNCTRACE, Failure, Room, Tracer, code_end, living_task, status_field, text_of, wait_for
from repair import kill_all

_lock = threading.Lock()
_reasons = []  # why the kernel cannot probe here; '' if it can


def need_probes():
    """Skips the scenario if the kernel or this process's rights do not allow probes."""
    with _lock:
        if not _reasons:
            room = Room()
            done = room.run([FUNCTRACE, '-q', '--probes=kernel', '-e', 'memory', '-o', room.path('trace'), 'true'])
            said = done.err.decode(errors='replace').strip()
            found = re.search('--probes=kernel is not possible: (.*)', said)
            _reasons.append('' if done.status == 0 and not found else found.group(1) if found else said)
            room.close()
    if _reasons[0]:
        raise builds.Skip(_reasons[0])


# ---- The same events by both ways ----

def traced(room, way, command, options, env):
    """Runs the command at fixed addresses, traced by `way`; returns its result and its traces."""
    folder = room.path(way)
    os.makedirs(folder)
    done = room.run([kinds.need('setarch'), '-R', FUNCTRACE, '-f', 'text', '--probes=' + way, '-o', folder] +
                    kinds.modules(options) + command, env)
    traces, problems = kinds.read_traces(folder)
    # "PID-N.rtrace.txt": N counts the programs that the process executed
    traces.sort(key=lambda t: [int(n) for n in re.findall(r'\d+', os.path.basename(t.path))])
    return done, traces, problems


def same_size(event, other):
    """Compares sizes. That of operator new by the kernel's probes is malloc's: 1 instead of 0, and a multiple of the
    alignment."""
    if event.size == other.size or not event.function.startswith('operator new'):
        return event.size == other.size
    return (event.size, other.size) == (1, 0) or 'align_val_t' in event.function and 0 < event.size - other.size < 4096


def shown(event):
    return '%s, stack %s%s' % (event, ' '.join('%#x(%s)' % frame for frame in event.frames), ' ' + event.end if event.end else '')


def same_place(address, other, moved):
    """Compares addresses. moved: the page that the kernel maps for its probes may have moved the mapping. (With ASLR
    there is room for that page beside the stack.)"""
    return address == other or moved and 0 < other - address <= 4096 and address > 0x7f0000000000


def same_stack(event, other, moved, may_end):
    """Compares stacks. A name may be missing in one of them, because it came too late; the addresses are compared all the
    same. may_end: the stack of a signal handler may end where it would go on on another stack, of which the kernel makes
    no copy. Such a stack has the frame at which a handler returns."""
    frames = len(event.frames)
    if may_end and event.end == 'lost' and {None, '__restore_rt()'} & {name for _, name in event.frames}:
        return all(address == other_address and (name == other_name or None in (name, other_name))
                   for (address, name), (other_address, other_name) in zip(event.frames, other.frames))
    return event.end == other.end and frames == len(other.frames) and all(
        (name == other_name or None in (name, other_name)) and same_place(address, other_address, moved)
        for (address, name), (other_address, other_name) in zip(event.frames, other.frames))


def differ(by_kernel, by_breakpoints, moved, may_end):
    """Compares two traces of one process, in which each call has the same place in the order."""
    name = os.path.basename(by_kernel.header['process'])
    for event, other in zip(by_kernel.events, by_breakpoints.events):
        if (event.kind, event.function) != (other.kind, other.function) or not same_size(event, other) or \
           not same_place(event.id, other.id, moved) or not same_stack(event, other, moved, may_end):
            return ['%s: record %d is %s; by breakpoints %s' % (name, event.index, shown(event), shown(other))]
    if len(by_kernel.events) != len(by_breakpoints.events):
        return ['%s: %d records, by breakpoints %d' % (name, len(by_kernel.events), len(by_breakpoints.events))]
    return []


def is_own(event):
    """Returns true if the target expects the event: see target.h."""
    size = event.size if event.kind == '+' else event.freed_size
    return size is not None and oracle.LOW <= size <= oracle.HIGH


def differ_unordered(by_kernel, by_breakpoints):
    """Compares two traces of one process whose threads ran in another order: without the blocks' addresses."""
    found, wanted = (collections.Counter((e.kind, e.function, e.size, tuple(e.frames), e.end) for e in t.events if is_own(e))
                     for t in (by_kernel, by_breakpoints))
    return ['%d times by probes in the kernel, %d times by breakpoints: %s' % (found[key], wanted[key], key)
            for key in sorted(set(found) | set(wanted), key=str) if found[key] != wanted[key]][:3]


def by_content(traces):
    """Returns the traces in an order that depends only on what the processes called, and not on which of two processes
    that run at the same time was first."""
    return sorted(traces, key=lambda trace: sorted(
        (e.kind, e.function, str(e.size), [str(name) for _, name in e.frames]) for e in trace.events))


def same(target, *args, variant='O2', options=(), env=None, threads=False, files=1, by_oracle=True, moved=False, may_end=False):
    """Returns a scenario that traces a target in both ways. threads: the order of its calls differs between runs.
    files: the number of traces, None if it is not checked. by_oracle: the traces have what the target expects. moved:
    see same_place(); may_end: see same_stack()."""
    def run(room):
        need_probes()
        words = [builds.library() if arg == '{library}' else str(arg) for arg in args]
        command = [builds.target(target, variant)] + words
        plain = room.run(command, env)
        options_here = ['-r'] + list(options)
        done, traces, problems = traced(room, 'kernel', command, options_here, env)
        other, expected, more = traced(room, 'breakpoints', command, options_here, env)
        problems += more + kinds.compare_runs(plain, done) + kinds.compare_runs(plain, other)
        if len(traces) != len(expected) or files not in (None, len(traces)):
            problems.append('%d traces, by breakpoints %d, expected %s' % (len(traces), len(expected), files))
        for trace, by_breakpoints in zip(by_content(traces), by_content(expected)):
            problems += differ_unordered(trace, by_breakpoints) if threads else differ(trace, by_breakpoints, moved, may_end)
            problems += ['lost: ' + note for note in trace.notes if note.startswith('lost: ')]
        if by_oracle:
            problems += oracle.Oracle(plain.out).check(traces, names='-b' not in options)
        events = sum(len(trace.events) for trace in traces)
        if not events:
            problems.append('no events')
        if problems and done.err:
            problems.append('functrace said: ' + done.err.decode(errors='replace').strip()[-800:])
        return problems, '%d events' % events
    return run


# ---- The text ----

def mappings_of(pid):
    """Returns [(address, offset in the file)] of the mappings of a process."""
    with open(living_task(pid) + '/maps') as file:
        return [(int(line.split('-')[0], 16), int(line.split()[2], 16)) for line in file]


def differences_from_files(pid):
    """Returns {address: (byte, byte in the file)} where the code of a process differs from its files. Copies of
    instructions after the end of the code, which functrace has written, are no differences."""
    found, offsets = {}, dict(mappings_of(pid))
    for (low, high, path), text in text_of(pid).items():
        text = text[:code_end(path, low, high) - low]
        with open(path, 'rb') as file:
            file.seek(offsets[low])
            data = file.read(len(text))
        found.update((low + i, pair) for i, pair in enumerate(zip(text, data)) if pair[0] != pair[1])
    return found


def text_and_files(pid):
    """Describes the differences between the code of a process and its files."""
    return ['at %#x the code has %02x, the file %02x' % (place, *pair)
            for place, pair in sorted(differences_from_files(pid).items())[:3]]


def detached(room):
    """After functrace has detached, the target's text is that of its files. It goes on as without functrace."""
    need_probes()
    need_attach()
    command = [builds.target('threads', 'O2'), '4', '2000']
    plain = room.run(command)
    with Held(room, command) as held:
        problems = text_and_files(held.child.pid)
        if problems:
            raise Failure('before functrace attaches: ' + problems[0])
        tracer = Tracer(room, held.child.pid, ['--probes=kernel'])
        tracer.planted()
        if not text_and_files(held.child.pid):
            problems.append('no probe is in the text')
        held.gate.open()
        if not held.gate.arrived(held.child):
            raise Failure('the target ended before its second gate')
        problems += tracer.let_go()
        problems += text_and_files(held.child.pid)
        held.gate.open()
        done = room.finish(held.child)
    traces, more = kinds.read_traces(room.path('traces'), 1)
    return problems + more + kinds.compare_runs(plain, done) + oracle.Oracle(done.out).check(traces), \
        '%d events' % sum(len(t.events) for t in traces)


def detached_at_work(room):
    """functrace attaches and detaches again and again while the target allocates."""
    need_probes()
    need_attach()
    problems, events = [], 0
    with Held(room, [builds.target('churn', 'O2'), '3']) as held:
        for i in range(3):
            tracer = Tracer(room, held.child.pid, ['--probes=kernel'], room.path('traces%d' % i))
            tracer.planted()
            problems += tracer.let_go() + text_and_files(held.child.pid)
            traces, more = kinds.read_traces(room.path('traces%d' % i), 1)
            problems += more
            events += sum(len(t.events) for t in traces)
        held.gate.open()
        done = room.finish(held.child)
    if done.status or done.out != b'all threads ended\n':
        problems.append('status %d, %r' % (done.status, done.out))
    if not events:
        problems.append('no events')
    return problems, '%d events' % events


def breakpoints_after_probes(room):
    """Breakpoints are hit in a process that has had probes in the kernel, while another process has some in the same
    functions."""
    need_probes()
    need_attach()
    command = [builds.target('churn', 'O2'), '3']
    with Held(room, command) as one, Held(room, command) as other:
        tracer = Tracer(room, one.child.pid, ['--probes=kernel'], room.path('first'))
        tracer.planted()
        problems = tracer.let_go()
        beside = Tracer(room, other.child.pid, ['--probes=kernel'], room.path('beside'))
        beside.planted()
        tracer = Tracer(room, one.child.pid, ['--probes=breakpoints'])
        tracer.planted()
        problems += tracer.let_go() + beside.let_go()
        for held in (one, other):
            held.gate.open()
            done = room.finish(held.child)
            problems += [] if done.status == 0 else ['status %d, %r' % (done.status, done.out)]
    traces, more = kinds.read_traces(room.path('traces'), 1)
    kinds_seen = collections.Counter(e.kind for t in traces for e in t.events)
    if not kinds_seen['+'] or not kinds_seen['-']:
        problems.append('events: %s' % dict(kinds_seen))
    return problems + more, '%d events' % sum(kinds_seen.values())


def killed(room):
    """After SIGKILL of functrace's engine the target runs on, and its text becomes that of its files."""
    need_probes()
    need_attach()
    command = [builds.target('churn', 'O2'), '3']
    with Held(room, command) as held:
        pid = held.child.pid
        tracer = Tracer(room, pid, ['--probes=kernel'])
        tracer.planted()
        os.kill(engine_of(None, pid), signal.SIGKILL)
        said = room.finish(tracer.child).err
        wait_for('the removal of the probes', lambda: not text_and_files(pid) and status_field(pid, 'TracerPid') == '0')
        held.gate.open()
        done = room.finish(held.child)
    if done.status or done.out != b'all threads ended\n':
        return ['status %d, %r; functrace said %r' % (done.status, done.out, said)], ''
    return [], ''


def all_killed(room):
    """All three processes of functrace are killed at once: the kernel removes its probes. Only the breakpoints that
    functrace has set itself stay."""
    need_probes()
    need_attach()
    with Held(room, [builds.target('churn', 'O2'), '3']) as held:
        pid = held.child.pid
        tracer = Tracer(room, pid, ['--probes=kernel'])
        tracer.planted()
        before = set(differences_from_files(pid))
        kill_all(tracer, pid)
        probes = 9  # malloc, free and the like of glibc
        left = wait_for('the removal of the probes', lambda: (lambda now: len(before) - len(now) >= probes and [now])(
            set(differences_from_files(pid))))[0]
        held.gate.open()
        done = room.finish(held.child)
    problems = [] if left <= before else ['new differences: %s' % sorted(left - before)]
    if done.status or done.out != b'all threads ended\n':
        problems.append('status %d, %r' % (done.status, done.out))
    return problems, '%d of %d stayed' % (len(left), len(before))


# ---- More calls than functrace can read ----

LOST = re.compile(r'^lost: (\d+) calls of (\w+), (\d+) bytes: ')


def flooded(blocked, stopped):
    """The target makes more calls than functrace can read. functrace counts the calls that it does not record. blocked:
    the target blocks the signal that would make it wait. stopped: functrace does not read at all for a moment."""
    def run(room):
        need_probes()
        need_attach()
        pairs = 120000
        command = [builds.target('flooding', 'O2'), str(pairs)] + (['blocked'] if blocked else [])
        with Held(room, command) as held:
            tracer = Tracer(room, held.child.pid, ['--probes=kernel', '-b', '16'])
            tracer.planted()
            engine = engine_of(None, held.child.pid)
            if stopped:
                os.kill(engine, signal.SIGSTOP)
            held.gate.open()
            if stopped:
                timer = threading.Timer(4, lambda: os.kill(engine, signal.SIGCONT))
                timer.start()
            arrived = held.gate.arrived(held.child, 240)
            if stopped:
                timer.join()
            if not arrived:
                raise Failure('the target ended before its second gate')
            problems = tracer.let_go()
            held.gate.open()
            done = room.finish(held.child)
        traces, more = kinds.read_traces(room.path('traces'), 1)
        problems += more
        lost, lost_bytes = collections.Counter(), collections.Counter()
        for found in filter(None, (LOST.match(note) for t in traces for note in t.notes)):
            lost[found.group(2)] += int(found.group(1))
            lost_bytes[found.group(2)] += int(found.group(3))
        seen = collections.Counter(e.function for t in traces for e in t.events
                                   if e.kind == '-' or e.size == 31001)
        for name in ('malloc', 'free'):
            if seen[name] + lost[name] != pairs:
                problems.append('%s: %d events and %d lost calls, expected %d' % (name, seen[name], lost[name], pairs))
        # The allocation before such a release may be a lost one.
        problems += [note for t in traces for note in t.notes if 'double release' in note][:1]
        if lost_bytes['malloc'] != 31001 * lost['malloc']:
            problems.append('%d lost bytes, expected %d' % (lost_bytes['malloc'], 31001 * lost['malloc']))
        told = re.findall(rb'([\d,]+) calls whose records from the kernel are missing', tracer.err)
        if sum(int(n.replace(b',', b'')) for n in told) != sum(lost.values()):
            problems.append('the summary has %s lost calls, the trace %d' % (told, sum(lost.values())))
        if bool(sum(lost.values())) > blocked:
            problems.append('%d calls were lost, although the target does not block the signal' % sum(lost.values()))
        if blocked and stopped and not lost:
            problems.append('no call was lost')
        if done.status:
            problems.append('the target ended with status %d, %r' % (done.status, done.err))
        if problems:
            problems.append('functrace said: ' + tracer.err.decode(errors='replace').strip()[-800:])
        return problems, '%d of %d calls lost' % (sum(lost.values()), 2 * pairs)
    return run


# ---- Rights ----

def without_rights(room):
    """A user without the capabilities gets an error that names them, and no program is started."""
    need_probes()
    prefix, functrace = as_nobody(room)
    folder = room.path('traces')
    os.makedirs(folder)
    os.chmod(folder, 0o777)
    done = room.run(prefix + [functrace, '-q', '--probes=kernel', '-o', folder + '/', 'touch', folder + '/started'])
    problems = []
    said = done.err.decode(errors='replace')
    if done.status in (0, None) or not re.search('--probes=kernel is not possible: .*CAP_BPF.*CAP_PERFMON', said):
        problems.append('status %d, functrace said %r' % (done.status, said))
    if os.listdir(folder):
        problems.append('the folder has %s' % os.listdir(folder))
    return problems, ''


# ---- How the calls are seen, as functrace says ----

def said_by_auto(room, target, variant, *options, by=()):
    """Traces a target with the default of --probes; returns what functrace said about its probes, and problems."""
    folder = room.path('-'.join(['traces', target, variant, *options]).replace('=', ''))
    os.makedirs(folder)
    os.chmod(folder, 0o777)
    functrace = list(by) if by else [FUNCTRACE]
    command = [builds.target(target, variant)]
    done = room.run(functrace + ['-f', 'text', '--probes=auto', '-o', folder] + kinds.modules(['-r', *options]) + command)
    traces, problems = kinds.read_traces(folder, 1)
    problems += oracle.Oracle(room.run(command).out).check(traces, names=False) if target == 'alloc_basic' else []
    lines = [line for line in done.err.decode(errors='replace').splitlines() if 'probes in the kernel' in line or 'breakpoints saw' in line]
    return lines, problems


def reasons(room):
    """The summary says how calls were seen, and why by breakpoints."""
    need_probes()
    problems = []
    for target, variant, options, expected in (
            ('alloc_basic', 'O2', (), 'probes in the kernel saw the calls of 9 functions'),
            ('alloc_basic', 'O2', ('-a',), 'breakpoints saw all calls, because -a needs breakpoints'),
            ('alloc_basic', 'O2', ('-b', '70'), 'breakpoints saw all calls, because stacks of more than 69 frames need breakpoints'),
            ('alloc_basic', 'O2', ('--unwinder=libunwind',), 'breakpoints saw all calls, because --unwinder=libunwind needs breakpoints'),
            ('alloc_cpp', 'static', (), r'probes in the kernel saw the calls of \d+ functions?; breakpoints those of .* \(their file is not one of '
                                        r'a known allocator\); .* \(exceptions may pass through them\)')):
        lines, more = said_by_auto(room, target, variant, *options)
        problems += more
        if len(lines) != 1 or not re.fullmatch('functrace: ' + expected, lines[0]):
            problems.append('%s: functrace said %r, expected %r' % (' '.join((target, variant) + options), lines, expected))
    return problems, ''


def reasons_without_rights(room):
    """Without rights, calls are seen by breakpoints, and the summary and -V say why."""
    need_probes()
    prefix, functrace = as_nobody(room)
    lines, problems = said_by_auto(room, 'alloc_basic', 'O2', by=prefix + [functrace])
    expected = 'functrace lacks the capabilities CAP_BPF and CAP_PERFMON'
    version = room.run(prefix + [functrace, '-V'])
    if len(lines) != 1 or not lines[0].startswith('functrace: breakpoints saw all calls, because ' + expected):
        problems.append('functrace said %r' % lines)
    if version.status or not re.search('^probes in the kernel: no, because ' + expected, version.out.decode(), re.M):
        problems.append('-V said %r %r' % (version.out, version.err))
    if b'\nprobes in the kernel: yes\n' not in room.run([FUNCTRACE, '-V']).out:
        problems.append('-V does not say that the kernel can be used')
    return problems, ''


def nested_namespaces(room):
    """functrace in a pid namespace traces a program in a pid namespace within that one: each thread has three numbers."""
    need_probes()
    unshare, folder = kinds.need('unshare'), room.path('traces')
    if room.run([unshare, '-pf', '--mount-proc', 'true']).status:
        raise builds.Skip('pid namespaces cannot be made here')
    os.makedirs(folder)
    command = [builds.target('alloc_basic', 'O2')]
    done = room.run([unshare, '-pf', '--mount-proc', FUNCTRACE, '--probes=kernel', '-f', 'text', '-o', folder] + kinds.modules(['-r']) +
                    [unshare, '-pf'] + command)
    traces, problems = kinds.read_traces(folder)
    traces = [trace for trace in traces if os.path.basename(trace.header['process']) == os.path.basename(command[0])]
    problems += oracle.Oracle(room.run(command).out).check(traces)
    if done.status or len(traces) != 1 or b'missing' in done.err:
        problems.append('status %s, %d traces, functrace said %r' % (done.status, len(traces), done.err))
    return problems, ''


# Without `makes`, which jumps to malloc: by breakpoints its record comes before malloc's.
CHOSEN = 'leaf;f?ctorial@main;[a-k]ops;jumps;deeper;within;by_pointer;returns_nothing;allocates'
BUILDS = [('alloc_basic', 'static'), ('alloc_basic', 'musl'), ('alloc_basic', 'no-pie'), ('alloc_cpp', 'static'), ('alloc_basic', 'O0'),
          ('chosen', 'O2'), ('churn', 'O2'), ('flooding', 'O2')]

def ring_sizes(room):
    """functrace maps the ring's data, which the kernel shows twice in a row, behind a page."""
    need_probes()
    problems = []
    for options, mib in ([], 16), (['--probes-ring=64'], 64):
        with Held(room, [builds.target('alloc_basic', 'O2')]) as held:
            tracer = Tracer(room, held.child.pid, ['--probes=kernel', *options], room.path('ring%d' % mib))
            tracer.planted()
            with open('/proc/%d/maps' % engine_of(room, held.child.pid)) as maps:
                sizes = [int(end, 16) - int(start, 16) for start, end in
                         re.findall(r'^(\w+)-(\w+) r--s .*bpf.map', maps.read(), re.M)]
            end, more = held.work_and_end(tracer)
        problems += more + ['status %d' % end.status] * bool(end.status)
        if sizes != [2 * (mib << 20) + os.sysconf('SC_PAGE_SIZE')]:
            problems.append('%d MiB: mapped are %s bytes' % (mib, sizes))
    return problems, ''


CASES = [
    ('all functions of the C library', same('alloc_basic')),
    ('all functions, a static program', same('alloc_basic', variant='static')),
    ('all functions, musl', same('alloc_basic', 'no-pvalloc', variant='musl', moved=True)),
    ('all functions, -A', same('alloc_basic', options=['-A'])),
    ('all functions, -b 0', same('alloc_basic', options=['-b', '0'])),
    ('all functions, -b 2', same('alloc_basic', options=['-b', '2'])),
    ('all functions, -b 64 -A', same('alloc_basic', options=['-b', '64', '-A'])),
    ('-x beside the allocator', same('alloc_basic', variant='O0', options=['-x', 'plain;aligned;resized;kept', '-A'], by_oracle=False)),
    ('-x of many functions', same('chosen', options=['-x', CHOSEN], by_oracle=False)),
    ('C++', same('alloc_cpp', by_oracle=False)),
    ('C++, -A', same('alloc_cpp', options=['-A'], by_oracle=False)),
    ('C++, -b 0', same('alloc_cpp', options=['-b', '0'], by_oracle=False)),
    ('C++, a static program', same('alloc_cpp', variant='static', by_oracle=False)),
    ('exceptions', same('throwing')),
    ('exceptions out of a handler that interrupted malloc', same('throwing', 'handler', may_end=True)),
    ('handlers that interrupt each other in malloc', same('inflight', 1000, 1, may_end=True)),
    ('handlers that interrupt each other in malloc, threads', same('inflight', 1000, 4, threads=True)),
    ('operator new[], whose handler makes room', same('catching', by_oracle=False)),
    ('system calls that become signals', same('dispatched', by_oracle=False)),
    ('threads', same('threads', 4, 100, threads=True)),
    ('many threads', same('threads', 64, 10, threads=True)),
    ('fork', same('forks', 'fork', files=2)),
    ('a tree of processes', same('forks', 'tree', files=9, threads=True)),
    ('vfork', same('forks', 'vfork', files=None)),
    ('posix_spawn', same('forks', 'spawn', files=None)),
    ('clone with CLONE_VM', same('forks', 'vm')),
    ('clone with CLONE_VM and CLONE_VFORK', same('forks', 'vm-vfork')),
    ('clone with CLONE_VM and CLONE_PARENT', same('forks', 'vm-parent')),
    ('clone with CLONE_SIGHAND', same('forks', 'sighand')),
    ('exec', same('execs', 'leader', files=2)),
    ('exec, right after calls of all kinds', same('calls_then_exec', by_oracle=False, files=2)),
    ('exec by a thread', same('execs', 'thread', files=2, threads=True)),
    ('exec twice', same('execs', 'twice', files=3)),
    ('exec that fails', same('execs', 'failing')),
    ('dlopen and dlclose', same('loading', '{library}', 10, moved=True)),
    ('longjmp out of a handler that interrupted malloc', same('abandoned')),
    ('longjmp out of a handler that interrupted malloc, -A', same('abandoned', options=['-A'])),
    ('functions that are left', same('leaving', 'longjmp', threads=True)),
    ('a deep recursion', same('recursion', 100000)),
    ('a deep recursion, -b 2', same('recursion', 10000, options=['-b', '2'])),
    ('stacks on another stack', same('altstack', by_oracle=False, may_end=True)),
    ('detached', detached),
    ('detached while it allocates', detached_at_work),
    ('breakpoints after probes, beside probes', breakpoints_after_probes),
    ('the engine is killed', killed),
    ('all of functrace is killed', all_killed),
    ('a fast program', flooded(False, False)),
    ('a fast program that blocks signals', flooded(True, False)),
    ('a fast program, functrace stops', flooded(False, True)),
    ('a fast program that blocks signals, functrace stops', flooded(True, True)),
    ('--probes-ring', ring_sizes),
    ('a user without rights', without_rights),
    ('a pid namespace in that of functrace', nested_namespaces),
    ('the summary says how calls were seen', reasons),
    ('the summary says how calls were seen, a user without rights', reasons_without_rights),
]
