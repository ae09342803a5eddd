"""Tests where traces are written, their summary, and what happens when they can no longer be written."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import builds
import kinds
import trace_text
from lifecycle import Held, need_attach, running
from processes import FUNCTRACE, POSTPROC, Failure, Gate, status_field, text_differences, text_of, wait_for

SUMMARY = re.compile(r'^functrace: process (\d+) \((.*?)\): ([\d,]+) events?.*; trace: (.*?)(?: \(incomplete.*)?$', re.M)


def summary(done):
    """Returns [(pid, name, events, path)] of the summary at the end, in its order."""
    return [(int(pid), name, int(events.replace(',', '')), path)
            for pid, name, events, path in SUMMARY.findall(done.err.decode(errors='replace'))]


def check_summary(room, done):
    """Each trace in the summary must exist, be named once, be of that process, and have that number of events."""
    problems, seen = [], set()
    for pid, _, events, path in summary(done):
        full = room.path(path)
        if path in seen:
            problems.append('%s is named twice' % path)
        seen.add(path)
        if not os.path.exists(full):
            problems.append('%s is named, and does not exist' % path)
            continue
        trace = trace_text.read(full)
        problems += trace.problems
        if trace.pid != pid or len(trace.events) != events:
            problems.append('%s is of process %d with %d events; it should be %d with %d' % (
                path, trace.pid, len(trace.events), pid, events))
    return problems


def sizes_of(room, path):
    return [e.size for e in trace_text.read(room.path(path)).events if e.kind == '+' and 30000 <= e.size < 40000]


def equal(what, found, expected):
    return [] if found == expected else ['%s: %r, expected %r' % (what, found, expected)]


# ---- -o FILE ----

def images(room, how, *more, by=()):
    return room.run(list(by) + [FUNCTRACE, '-f', 'text', '-o', 'X', builds.target('images', 'O0'), how] + list(more))


def numbered_images(room):
    """A child executes another program twice: the traces are FILE, FILE.PID, FILE.PID.1 and FILE.PID.2; older files are
    replaced."""
    with open(room.path('X'), 'w') as file:
        file.write('of another run\n' * 1000)
    done = images(room, 'exec')
    lines = [line.split() for line in done.out.decode().split('\n') if line]
    child = lines[1][0] if len(lines) == 4 else '?'
    names = ['X', 'X.' + child, 'X.%s.1' % child, 'X.%s.2' % child]
    problems = equal('files', sorted(os.listdir(room.folder)), sorted(names))
    problems += check_summary(room, done) + equal('traces named', len(summary(done)), 4)
    for name, (_, size) in zip(names, lines):
        if os.path.exists(room.path(name)):
            problems += equal(name, sizes_of(room, name), [int(size)])
    return problems + equal('status', done.status, 0), ''


def first_becomes_another(room):
    """The first process executes another program: its traces are FILE and FILE.PID.1. A child that is forked before has
    FILE.PID."""
    script = '(exec "$0" -S -E -c 0); exec "$0" -S -E -c 0'
    done = room.run([FUNCTRACE, '-f', 'text', '-o', 'Y', kinds.shell(), '-c', script, sys.executable])
    told = summary(done)
    if len(told) != 4:
        return ['%d traces are named, expected 4: %s' % (len(told), done.err.decode())], ''
    main = [pid for pid, _, _, path in told if path == 'Y']
    child = [pid for pid, _, _, _ in told if [pid] != main]
    names = ['Y', 'Y.%d.1' % main[0], 'Y.%d' % child[0], 'Y.%d.1' % child[0]] if main and child else []
    return check_summary(room, done) + equal('names', sorted(path for _, _, _, path in told), sorted(names)), ''


def threads_execute(room):
    """A thread that is not the leader executes another program: nothing of the first program's trace is lost."""
    done = room.run([FUNCTRACE, '-f', 'text', '-o', 'Z', builds.target('execs', 'O2'), 'thread'])
    told = summary(done)
    problems = check_summary(room, done) + equal('traces named', len(told), 2)
    if not problems:
        problems = equal('names', sorted(path for _, _, _, path in told), ['Z', 'Z.%d.1' % told[0][0]])
        problems += equal('blocks in the trace of the first program', sizes_of(room, 'Z').count(34102), 1)
        problems += equal('blocks in the trace of the second program',
                          sizes_of(room, 'Z.%d.1' % told[0][0]).count(34103), 2)
    return problems, ''


def own_pids():
    """Returns a command prefix that runs a program in a new pid namespace."""
    kinds.need('unshare')
    command = ['unshare', '-p', '-f', '--mount-proc']
    if os.geteuid() or subprocess.run(command + ['true'], stderr=subprocess.DEVNULL, timeout=60).returncode:
        raise builds.Skip('a pid namespace cannot be made here (it needs root)')
    return command


def pid_reused(room):
    """Two children have the same pid: both traces are complete."""
    done = images(room, 'reuse', by=own_pids())
    problems = equal('status', done.status, 0) + check_summary(room, done)
    problems += equal('names', sorted(path for _, _, _, path in summary(done)), ['X', 'X.300', 'X.300.1'])
    for name, sizes in (('X', [30100]), ('X.300', [31110]), ('X.300.1', [32220])):
        problems += [] if problems else equal(name, sizes_of(room, name), sizes)
    return problems, ''


def linked_name(room):
    """A child's trace would have the name of a link to the first process's trace: it is not overwritten."""
    done = images(room, 'links', 'X', by=own_pids())
    problems = equal('status', done.status, 0)
    problems += equal('names', sorted(path for _, _, _, path in summary(done)), ['X', 'X.300.2'])
    for name, sizes in (('X', [30100]), ('X.300.2', [32220])):
        problems += [] if problems else equal(name, sizes_of(room, name), sizes)
    return problems, ''


def into_a_device(room):
    """-o /dev/null: the traces of other processes go there, too, and no file appears beside it."""
    before = set(os.listdir('/dev'))
    done = room.run([FUNCTRACE, '-f', 'text', '-o', '/dev/null', 'sh', '-c', '(ls); (exec ls)'])
    new = sorted(name for name in set(os.listdir('/dev')) - before if name.startswith('null'))
    for name in new:
        os.unlink('/dev/' + name)
    problems = equal('files in /dev', new, []) + equal('files here', os.listdir(room.folder), [])
    problems += equal('paths', sorted({path for _, _, _, path in summary(done)}), ['/dev/null'])
    return problems + equal('status', done.status, 0), ''


def removed_meanwhile(room):
    """The program removes the folder of its trace: functrace recommends no command for a file that does not exist."""
    folder = os.path.join(room.folder, 'traces')
    os.mkdir(folder)
    done = room.run([FUNCTRACE, '-F', '-o', folder, 'sh', '-c', 'echo x; exec rm -rf ' + folder])
    said = done.err.decode()
    problems = [] if re.search(r'^functrace: process \d+: its trace, \S+, was removed while functrace wrote it\.', said, re.M) \
        else ['it is not said: ' + said]
    problems += ['it is recommended all the same: ' + said] if 'functrace-postproc' in said else []
    return problems + equal('status', done.status, 0), ''


def several_are_named(room):
    """If there are a few traces, the hint names all of them."""
    folder = os.path.join(room.folder, 'traces')
    os.mkdir(folder)
    done = room.run([FUNCTRACE, '-o', folder, 'sh', '-c', '(ls); (ls /)'])
    hint = re.search(r'^functrace: to see .*: functrace-postproc --report (.*)$', done.err.decode(), re.M)
    return equal('hint', sorted(hint.group(1).split()) if hint else done.err,
                 sorted(os.path.join(folder, name) for name in os.listdir(folder))), ''


def paused_and_resumed(room):
    """Each time that tracing is resumed, a new file begins; no file is replaced."""
    need_attach()
    with Held(room, [builds.target('churn', 'O2'), '1']) as held:
        tracer = room.start([FUNCTRACE, '-f', 'text', '-o', 'P', '-S', 'USR1', '-t', str(held.child.pid)])

        def bytes_of(name):
            return os.path.exists(room.path(name)) and os.stat(room.path(name)).st_size
        for name in ('P', 'P.%d.1' % held.child.pid, 'P.%d.2' % held.child.pid):
            wait_for('events in ' + name, lambda: bytes_of(name) and b'malloc(' in open(room.path(name), 'rb').read())
            if not name.endswith('.2'):
                os.kill(tracer.pid, signal.SIGUSR1)
                wait_for('the pause', lambda: trace_paused(room.path(name)))
                os.kill(tracer.pid, signal.SIGUSR1)
        tracer.send_signal(signal.SIGINT)
        done = room.finish(tracer)
        held.gate.open()
        room.finish(held.child)
    names = ['P', 'P.%d.1' % held.child.pid, 'P.%d.2' % held.child.pid]
    return equal('names', [path for _, _, _, path in summary(done)], names) + check_summary(room, done), ''


def trace_paused(path):
    with open(path, 'rb') as file:
        return b'paused' in file.read()


# ---- A trace that can no longer be written ----

PARTLY = re.compile(r'^functrace: process \d+ \(.*?\): ([\d,]+) events?, ([\d,]+) of them in the trace; .*; trace: (.*) '
                    r'\(incomplete\)$', re.M)


def counts_of_broken(text):
    """Returns [(traced events, events in the trace, path)] of the messages about incomplete traces."""
    return [(int(seen.replace(',', '')), int(kept.replace(',', '')), path) for seen, kept, path in PARTLY.findall(text)]


def calls_in(room, path):
    """Returns the number of calls that functrace-postproc reads from a complete or truncated trace."""
    done = room.run([POSTPROC, path])
    return len(re.findall(rb'^\d+\. ', done.out, re.M))


def lets_go_of(room, options, word, kept=None, nothing=None, **more):
    """functrace is attached to a busy program whose trace can no longer be written: it detaches, and ends with status
    1."""
    need_attach()
    with Held(room, [builds.target('churn', 'O2'), '3']) as held:
        pid, before = held.child.pid, text_of(held.child.pid)
        tracer = room.start([FUNCTRACE] + options + ['-t', str(pid)], **more)
        if kept is None:
            # Waits for an event in the trace, because otherwise the truncated trace might have none.
            while re.match(rb'\d+\. ', tracer.stdout.readline() or b'0. the end') is None:
                pass
            tracer.stdout.close()
            tracer.stdout = open(os.devnull, 'rb')
        done = room.finish(tracer)
        text = done.err.decode()
        problems = equal('status', done.status, 1) + equal('TracerPid', status_field(pid, 'TracerPid'), '0')
        problems += text_differences(before, text_of(pid))
        if word not in text or 'process %d' % pid not in text:
            problems.append('functrace said: ' + text)
        held.gate.open()
        ended = room.finish(held.child)
        problems += equal('the target', (ended.status, ended.out), (0, b'all threads ended\n'))
    if nothing:
        return problems + equal('the summary says that there is no event',
                                nothing in text, True) + equal('a recommended command', '-postproc' in text, False), ''
    counts = counts_of_broken(text)
    if len(counts) != 1 or counts[0][0] <= counts[0][1]:
        return problems + ['its counts: %s, of: %s' % (counts, text)], ''
    if kept is not None:
        problems += equal('events in the trace', counts[0][1], kept(counts[0][2]))
    return problems, '%d of %d events' % counts[0][1::-1]


def small_disk(room):
    """Mounts a file system of 300 KB; returns its folder."""
    os.mkdir(room.path('disk'))
    if os.geteuid() or subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=300k', 'tmpfs', room.path('disk')],
                                      stderr=subprocess.DEVNULL, timeout=60).returncode:
        raise builds.Skip('a small file system cannot be mounted here (it needs root)')
    return room.path('disk')


def disk_full(form):
    def run(room):
        disk = small_disk(room)
        try:
            return lets_go_of(room, ['-f', form, '-o', disk + '/a'], 'No space left',
                              kept=lambda path: calls_in(room, path))
        finally:
            subprocess.run(['umount', '-l', disk], timeout=60)
    return run


def file_too_large(room):
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
    return lets_go_of(room, ['-f', 'text', '-o', 'a'], 'File too large', preexec_fn=limit,
                      kept=lambda path: calls_in(room, room.path(path)))


def not_even_begun(room):
    """If not a single byte can be written, the message has advice, and no empty file remains."""
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    done = room.run([FUNCTRACE, '-o', 'a', builds.target('images', 'O0'), '0'], preexec_fn=limit)
    words = re.sub(r'process \d+', 'process N', done.err.decode())
    problems = equal('files', os.listdir(room.folder), []) + equal('status', done.status, 0)
    return problems + equal('messages', words, """\
functrace: the trace of process N can no longer be written to a: File too large. The process goes on untraced. The file is \
empty. Raise the limit (ulimit -f), or give another place with -o.
functrace: process N (images-O0): 0 events; 0 blocks with 0 bytes are live; no trace: nothing could be written to a
functrace: not traced: 1 trace that could not be written to its end
"""), ''


def reader_ends(room):
    return lets_go_of(room, ['-f', 'text', '-o', '-'], 'Broken pipe')


def device_full(room):
    return lets_go_of(room, ['-f', 'text', '--no-baseline', '-o', '/dev/full'], 'No space left', kept=0,
                      nothing='(churn-O2): 0 events; 0 blocks with 0 bytes are live; trace: /dev/full (incomplete)\n')


def one_of_two(room):
    """functrace is attached to two processes, one of which allocates nothing. It detaches only from the process that
    allocates, including its sleeping threads."""
    need_attach()
    disk = small_disk(room)
    try:
        with Held(room, [builds.target('sleepers', 'O2')]) as quiet, \
                Held(room, [builds.target('churn', 'O2'), '3']) as busy:
            before = text_of(busy.child.pid)
            with open(room.path('said'), 'wb') as said:
                tracer = room.start([FUNCTRACE, '-f', 'text', '-o', disk, '-t', str(busy.child.pid), '-t',
                                     str(quiet.child.pid)], stderr=said)

            def told():
                with open(room.path('said'), 'rb') as file:
                    return file.read()
            # The breakpoints are no sign of the attach: the disk may be full, and they removed, before one looks.
            wait_for('functrace to find the disk full',
                     lambda: b'can no longer be written' in told() or tracer.poll() is not None)
            wait_for('functrace to detach from one process', lambda: all(
                status_field(t, 'TracerPid') == '0' for t in os.listdir('/proc/%d/task' % busy.child.pid)
                for t in [int(t)]) and text_of(busy.child.pid) == before)
            problems = equal('the other process is traced', status_field(quiet.child.pid, 'TracerPid') != '0', True)
            busy.gate.open()
            ended = room.finish(busy.child)
            problems += equal('the target', (ended.status, ended.out), (0, b'all threads ended\n'))
            tracer.send_signal(signal.SIGINT)
            done = room.finish(tracer)
            done.err = told()
            problems += equal('status', done.status, 1)
            problems += equal('the tracer of the other process', status_field(quiet.child.pid, 'TracerPid'), '0')
            counts = counts_of_broken(done.err.decode())
            if len(counts) != 1 or len(summary(done)) != 2:
                problems.append('functrace said: ' + done.err.decode())
            room.kill(quiet.child)
    finally:
        subprocess.run(['umount', '-l', disk], timeout=60)
    return problems, ''


GOES_ON = '''
import os, sys, time
def tracer():
    return [l.split()[1] for l in open('/proc/self/status') if l.startswith('TracerPid')][0]
end = time.monotonic() + 50
while tracer() != '0' and time.monotonic() < end:
    x = [os.urandom(1000) for i in range(100)]
    if sys.argv[1:] and os.fork() == 0:
        x = [os.urandom(1000) for i in range(100)]
        os._exit(0)
    if sys.argv[1:]:
        os.wait()
        end = min(end, time.monotonic() + 1)
print('traced' if tracer() != '0' else 'free')
sys.exit(7)
'''


def launched(room, *args, output='/dev/full', **more):
    python = os.path.realpath(os.environ.get('PYTHON') or kinds.need('python3'))
    return room.run([FUNCTRACE, '-f', 'text', '-o', output, python, '-c', GOES_ON] + list(args), **more)


def launched_program(room):
    """functrace detaches from a launched program, which runs to its end; functrace has its exit status."""
    done = launched(room)
    problems = equal('status and output', (done.status, done.out), (7, b'free\n'))
    if b': 0 events; 0 blocks with 0 bytes are live; trace: /dev/full (incomplete)\n' not in done.err:
        problems.append('functrace said: ' + done.err.decode())
    return problems, ''


def launched_with_children(room):
    """The reader of the launched program's trace has ended, and its children's traces are files: the children are
    traced, and the status is kept."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        done = launched(room, 'fork', output='-', stdout=write_end)
    finally:
        os.close(write_end)
    problems = equal('status', done.status, 7)
    if b'Broken pipe' not in done.err or b'Traceback' in done.err:
        problems.append('functrace said: ' + done.err.decode()[-600:])
    return problems, ''


# ---- A trace that cannot be created ----

def cannot_begin(room, command, before=None):
    """The folder of the traces is removed, then the program executes another one, which runs untraced; the summary says
    so."""
    os.mkdir(room.path('d'))
    done = before(command) if before else room.run([FUNCTRACE, '-o', 'd/q', *command])
    text = done.err.decode()
    problems = [] if re.search(r'^functrace: process (\d+) \(images-O0\) goes on untraced: its trace cannot be written to '
                               r'd/q\.\1(\.1)?: No such file or directory\. Name another place with -o\.$', text, re.M) else \
        ['no message of that process']
    problems += equal('the summary', 'functrace: not traced: 1 process whose trace could not be begun\n' in text, True)
    return done, problems + (['functrace said: ' + text] if problems else [])


def cannot_begin_launched(room):
    program = builds.target('images', 'O0')
    done, problems = cannot_begin(room, ['sh', '-c', 'rm -r d; exec "$0" 0', program])
    return problems + equal('status', done.status, 0), ''


def cannot_begin_child(room):
    """The same holds if the trace that cannot be created is that of a launched program's forked child."""
    program = builds.target('images', 'O0')
    script = 'import shutil, subprocess, sys; shutil.rmtree("d"); ' \
        'sys.exit(subprocess.run(sys.argv[1:], close_fds=False).returncode + 5)'
    python = os.path.realpath(os.environ.get('PYTHON') or kinds.need('python3'))
    done, problems = cannot_begin(room, [python, '-c', script, program, '0'])
    return problems + equal('status', done.status, 5), ''


def cannot_begin_attached(room):
    need_attach()
    program = builds.target('images', 'O0')
    os.mkfifo(room.path('gate'))
    child = room.start(['sh', '-c', 'read x < gate; exec "$0" 0', program])

    def before(command):
        tracer = room.start([FUNCTRACE, '-o', 'd/q', '-t', str(child.pid)])
        wait_for('a trace', lambda: os.path.exists(room.path('d/q')) and os.stat(room.path('d/q')).st_size)
        shutil.rmtree(room.path('d'))
        with open(room.path('gate'), 'w') as file:
            file.write('go\n')
        return room.finish(tracer)
    done, problems = cannot_begin(room, None, before)
    problems += equal('status', done.status, 1) + equal('the program', room.finish(child).status, 0)
    return problems, ''


# ---- Forks ----

FORKING = '''
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	void *volatile p = malloc(100), *volatile q = malloc(30), *volatile r;

	if (!fork()) {
		r = malloc(1111);
		free(q);
		_exit(!p || !r);
	}
	wait(NULL);
	return 0;
}
'''


def inherited(room):
    """Blocks from before a fork are counted separately: the number in the summary is that of functrace-postproc -l."""
    with open(room.path('f.c'), 'w') as file:
        file.write(FORKING)
    made = room.run(builds.compiler() + ['-O0', '-o', room.path('f'), room.path('f.c')])
    if made.status:
        raise Failure(made.err.decode())
    done = room.run([FUNCTRACE, '-o', 'F', room.path('f')])
    text, told = done.err.decode(), dict((path, pid) for pid, _, _, path in summary(done))
    child = [path for path in told if path != 'F']
    if len(child) != 1:
        return ['functrace said: ' + text], ''
    problems = []
    words = 'process %d (f): 2 events; 1 block with 1,111 bytes is live, and from before the fork 1 block with 100 ' \
        'bytes; trace: %s\n' % (told[child[0]], child[0])
    if words not in text:
        problems.append('functrace said %s, expected %s' % (text, words))
    shown = room.run([POSTPROC, '-l', child[0]]).out.decode()
    for line in ('# 1 block(s) leaked with total size of 1111 bytes\n',
                 '1 block with 100 bytes from before the fork is live, and not in this trace\n'):
        if line not in shown:
            problems.append('%r is not in %s' % (line, shown))
    parent = room.run([POSTPROC, '-l', 'F']).out.decode()
    if 'before the fork' in parent or 'total size of 130 bytes' not in parent:
        problems.append('output about the parent: ' + parent)
    if ': 2 events; 2 blocks with 130 bytes are live; trace: F\n' not in text:
        problems.append('the message about the parent: ' + text)
    return problems, ''


FORGETTING = '''
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void *volatile kept, *volatile own;
int main(int argc, char **argv)
{
	kept = malloc(100);
	if (!fork()) {
		own = malloc(1111);
		if (argc > 1)
			own = malloc(2222);
		kept = NULL;
		exit(0);
	}
	return wait(NULL) < 0;
}
'''


def inherited_lost(room):
    """Lost blocks from before a fork are counted separately too, and noted in the child's trace, which lacks them. The
    suggested command is one for leaks if any of its traces has leaks."""
    with open(room.path('f.c'), 'w') as file:
        file.write(FORGETTING)
    made = room.run(builds.compiler() + ['-O0', '-o', room.path('f'), room.path('f.c')])
    if made.status:
        raise Failure(made.err.decode())
    problems = []
    for words, live, lost, leaked, offer in (
            ([], '1 event; 1 block with 1,111 bytes is live', 'nothing is lost, but', 0, 'the live resources'),
            (['2222'], '2 events; 2 blocks with 3,333 bytes are live', '1 block with 1,111 bytes is lost, and', 1111,
             'the leaks')):
        done = room.run([FUNCTRACE, '--scan', '-o', 'F', room.path('f')] + words)
        text = done.err.decode()
        child = [path for _, _, _, path in summary(done) if path != 'F']
        if len(child) != 1:
            return ['functrace said: ' + text], ''
        for line in ('(f): %s, and from before the fork 1 block with 100 bytes; %s from before the fork 1 block with '
                     '100 bytes; trace: %s\n' % (live, lost, child[0]),
                     'functrace: to see %s: functrace-postproc --report F %s\n' % (offer, child[0])):
            if line not in text:
                problems.append('%r is not in %s' % (line, text))
        shown = room.run([POSTPROC, '-l', child[0]]).out.decode()
        for line in ('leaked with total size of %d bytes\n' % leaked,
                     '1 block with 100 bytes from before the fork is live, and not in this trace; of these, 1 block '
                     'with 100 bytes is lost\n'):
            if line not in shown:
                problems.append('%r is not in %s' % (line, shown))
    return problems, ''


CASES = [
    ('-o FILE: a child that executes programs', numbered_images),
    ('-o FILE: the first process executes another program', first_becomes_another),
    ('-o FILE: a thread executes another program', threads_execute),
    ('-o FILE: two children with the same pid', pid_reused),
    ('-o FILE: a link to the trace is not overwritten', linked_name),
    ('-o FILE: a device gets the traces of all processes', into_a_device),
    ('-o FOLDER: no command is recommended for a removed folder', removed_meanwhile),
    ('-o FOLDER: the hint names all traces', several_are_named),
    ('-o FILE: each resume begins a new file', paused_and_resumed),
    ('cannot be written: no space left, text', disk_full('text')),
    ('cannot be written: no space left, binary', disk_full('rtrace')),
    ('cannot be written: the file is too large', file_too_large),
    ('cannot be written: no byte at all', not_even_begun),
    ('cannot be written: the reader has gone', reader_ends),
    ('cannot be written: a full device', device_full),
    ('cannot be written: one of two traces', one_of_two),
    ('cannot be written: a launched program', launched_program),
    ('cannot be written: a launched program with children', launched_with_children),
    ('cannot be created: a launched program', cannot_begin_launched),
    ('cannot be created: a child', cannot_begin_child),
    ('cannot be created: an attached program', cannot_begin_attached),
    ('blocks from before a fork', inherited),
    ('lost blocks from before a fork', inherited_lost),
]
