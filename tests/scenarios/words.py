"""Tests exact messages about processes, and the ways to name a process."""

import os
import re
import shutil
import signal
import subprocess
import time

import builds
import kinds
import trace_text
from errors import refused
from lifecycle import need_attach
from outputs import equal, own_pids, summary
from processes import FUNCTRACE, POSTPROC, Failure, command_of, state_of, status_field, tasks_of, wait_for
from rounds import LONG


def said(done):
    return done.err.decode(errors='replace')


def has_line(done, pattern):
    """Returns problems unless a whole line matches the regular expression."""
    if re.search('^%s$' % pattern, said(done), re.M):
        return []
    return ['no line %r in: %s' % (pattern, said(done))]


def compiled(room, name, source, *options):
    with open(room.path(name + '.c'), 'w') as file:
        file.write(source)
    made = room.run(builds.compiler() + ['-g', '-O0'] + list(options) + ['-o', room.path(name), room.path(name + '.c')])
    if made.status:
        raise Failure(made.err.decode())
    return room.path(name)


def matches(lines, patterns):
    """Returns problems unless there are as many lines as regular expressions, and each line matches its expression."""
    if len(lines) == len(patterns) and all(re.search('^%s$' % p, line) for p, line in zip(patterns, lines)):
        return []
    return ['it said %r, expected %r' % (lines, patterns)]


LOOP = '''
#include <stdlib.h>
#include <unistd.h>
void *volatile kept;
void keeps_a_block(void)
{
	kept = malloc(31234);
}
int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 60000; i++) { /* ten minutes: each test kills it before */
		keeps_a_block();
		usleep(10000);
	}
	return argc;
}
'''


def running(room, path, *args):
    child = room.start([path] + list(args))
    wait_for('the program to start', lambda: os.path.basename(os.readlink('/proc/%d/exe' % child.pid)).startswith(
        os.path.basename(os.path.realpath(path))))
    return child


def has_events(room, trace):
    """Returns true if a trace that functrace is still writing has calls already."""
    if not os.path.exists(room.path(trace)):
        return False
    return bool(re.search(rb'^\d+\. ', room.run([POSTPROC, '-b', '0', room.path(trace)]).out, re.M))


def attached(room, *options, until=None):
    """Runs functrace until it has said that it is attached and until() is true, if given; then it detaches."""
    tracer = room.start([FUNCTRACE] + list(options), stderr=open(room.path('said'), 'wb'))
    wait_for('functrace to attach', lambda: b'attached to' in open(room.path('said'), 'rb').read()
             or tracer.poll() is not None)
    if until:
        wait_for('events in the trace', lambda: until() or tracer.poll() is not None)
    tracer.send_signal(signal.SIGINT)
    done = room.finish(tracer)
    with open(room.path('said'), 'rb') as file:
        done.err = file.read()
    return done


# ---- Names ----

def attached_line(room):
    """On attaching functrace prints the process, and how to end tracing."""
    need_attach()
    source = LOOP.replace('int main', """#include <pthread.h>
static void *sleeps(void *data)
{
	pause();
	return data;
}
int main""").replace('(void)argv;', """(void)argv;
	pthread_t id;
	for (int i = 0; i < 3; i++)
		pthread_create(&id, NULL, sleeps, NULL);""")
    child = running(room, compiled(room, 'sleeping', source, '-pthread'))
    wait_for('the threads to start', lambda: len(tasks_of(child.pid)) == 4)
    done = attached(room, '-o', 'a', '-t', str(child.pid))
    quiet = room.start([FUNCTRACE, '-q', '-o', 'b', '--duration=1', '-t', str(child.pid)])
    problems = equal('with -q', said(room.finish(quiet)), '')
    room.kill(child)
    problems += has_line(done, r'functrace: attached to sleeping \(%d\), 4 threads, [1-9]\d* functions; Ctrl-C detaches functrace' %
                         child.pid)
    # Without a terminal there is no line of counts.
    return problems + equal('carriage returns', said(done).count('\r'), 0), ''


def started_by(room):
    """If a program is started by a link, as a script or as a login shell, its name is that by which it was started, and
    the program's file is added if it differs."""
    program = builds.target('images', 'O0')
    os.symlink(program, room.path('alias'))
    # A process of its own writes the file that functrace or a shell executes: otherwise a child that another
    # scenario is just forking here would have the file open for writing until its exec (ETXTBSY).
    room.run(['tee', room.path('tool')], data=b'#!/bin/sh\n:\n')
    os.chmod(room.path('tool'), 0o755)
    shell = os.path.realpath('/bin/sh')
    problems = has_line(room.run([FUNCTRACE, '-o', 'a', room.path('alias'), '0']),
                        r'functrace: process \d+ \(alias, program %s\): 1 event; 1 block with 30,100 bytes is live; '
                        r'trace: a' % re.escape(program))
    problems += has_line(room.run([FUNCTRACE, '-o', 'b', program, '0']),
                         r'functrace: process \d+ \(images-O0\): 1 event; 1 block with 30,100 bytes is live; trace: b')
    problems += has_line(room.run([FUNCTRACE, '-o', 'c', room.path('tool')]),
                         r'functrace: process \d+ \(tool, program %s\): .*' % re.escape(shell))
    long = room.path('a-name-of-more-than-fifteen-bytes')
    room.run(['cp', program, long])
    problems += has_line(room.run([FUNCTRACE, '-o', 'd', long, '0']),
                         r'functrace: process \d+ \(a-name-of-more-than-fifteen-bytes\): 1 event; .*')
    with open(room.path('a'), 'rb') as file:
        problems += equal('the path in the trace', program.encode() in file.read(), True)
    return problems, ''


def by_name(room):
    """-t NAME: attaches if one process has this name; else the message lists the processes."""
    need_attach()
    name = 'f%x' % time.time_ns()
    shutil.copy(compiled(room, 'loop', LOOP), room.path(name))
    problems = refused(room, [FUNCTRACE, '-t', name], 2,
                       "functrace: -t %s: this is no process id, and no process has that name; 'pgrep -af %s' looks into "
                       "whole command lines\n" % (name, name))
    first = running(room, room.path(name))
    done = attached(room, '-o', 'a', '-t', name)
    problems += has_line(done, r'functrace: attached to %s \(%d\), 1 thread, \d+ functions; Ctrl-C detaches functrace' % (name, first.pid))
    second = running(room, room.path(name), 'x' * 100)
    low, high = sorted((first, second), key=lambda child: child.pid)
    lines = {child: '%8d  %s' % (child.pid, ' '.join(child.args)) for child in (first, second)}
    lines[second] = lines[second][:10] + ' '.join(second.args)[:57] + '...'
    if len(' '.join(first.args)) > 60:
        lines[first] = lines[first][:67] + '...'
    problems += refused(room, [FUNCTRACE, '-t', name], 2,
                        'functrace: -t %s: 2 processes have this name; give the id of one:\n%s\n%s\nTry ' % (
                            name, lines[low], lines[high]))
    for child in (first, second):
        room.kill(child)
    return problems, ''


def family(room):
    """The target is a master that makes no traced call, with a child of the same name, which has a child, too."""
    need_attach()
    name = 'f%x' % time.time_ns()
    source = LOOP.replace('int main', 'static int work') + '''
#include <sys/wait.h>
int main(int argc, char **argv)
{
	if (!fork()) {
		fork();
		return work(argc, argv);
	}
	wait(NULL);
	return 0;
}
'''
    master = running(room, compiled(room, name, source))
    pid = master.pid
    wait_for('the children to start', lambda: len([p for p in room.processes() if command_of(p) == name[:15]]) == 3)
    children = sorted(p for p in room.processes() if command_of(p) == name[:15] and p != pid)
    child = [p for p in children if status_field(p, 'PPid') == str(pid)][0]
    alone = attached(room, '-o', 'a', '-t', str(pid))
    problems = has_line(alone, r'functrace: process %d \(%s\) made no traced call. It has children that functrace did not attach to: '
                               r'%d \(%s\). To attach to them too: -t %d --children' % (pid, name, child, name, pid))
    both = attached(room, '-o', 'b', '--children', '-t', str(pid),
                    until=lambda: all(has_events(room, 'b.%d' % p) for p in children))
    problems += has_line(both, r'functrace: attached to %s \(%d\), 1 thread, \d+ functions, and to 2 descendants; '
                               r'Ctrl-C detaches functrace' % (name, pid))
    problems += equal('the recommended command', 'made no traced call' in said(both), False)
    problems += has_line(both, r'functrace: to see the live resources \(for lost blocks, trace with --scan\): functrace-postproc --report b\.(%d|%d)( b\.\d+)*' % tuple(children))
    names = ['b'] + ['b.%d' % p for p in children]
    problems += equal('traces', sorted(path for _, _, _, path in summary(both)), sorted(names))
    problems += ['no event of %d' % p for p, _, events, _ in summary(both) if p != pid and not events]
    for p in [pid] + children:
        problems += equal('TracerPid', status_field(p, 'TracerPid'), '0')
    problems += refused(room, [FUNCTRACE, '-t', name], 2, '\nAll of them: -t %d --children\n' % pid)
    for options in (['-t', name, '--children'], ['--children', '-t', room.path(name)]):
        named = attached(room, '-o', 'n', *options)
        problems += has_line(named, r'functrace: attached to %s \(%d\), 1 thread, \d+ functions, and to 2 descendants; '
                                    r'Ctrl-C detaches functrace' % (name, pid))
    for p in children:
        os.kill(p, signal.SIGKILL)
    room.finish(master)
    sleeper = room.start(['sleep', '600'])
    wait_for('the program to sleep', lambda: command_of(sleeper.pid) == 'sleep' and state_of(sleeper.pid) == 'S')
    idle = attached(room, '-o', 'c', '-t', str(sleeper.pid))
    problems += has_line(idle, r'functrace: process %d \(sleep\) made no traced call while functrace was attached to it' % sleeper.pid)
    room.kill(sleeper)
    problems += refused(room, [FUNCTRACE, '-o', 'd', '4194305'], 127,
                        'functrace: 4194305 was not found in PATH. To attach to process 4194305: -t 4194305\n')
    return problems, ''


def by_path(room):
    """-t PATH is the path of the program, of a link to it, or of a script, as it was typed at the start, or relative to
    another folder. The folder's name is unique, because -t finds processes of other checks, too."""
    need_attach()
    folder = os.path.basename(room.folder)
    compiled(room, 'loop', LOOP)
    os.mkdir(room.path(folder))
    os.symlink(room.path('loop'), room.path(folder, 'link'))
    with open(room.path(folder, 'tool'), 'w') as file:
        file.write('#!/bin/sh\nread x < gate\n')
    os.chmod(room.path(folder, 'tool'), 0o755)
    os.mkfifo(room.path('gate'))
    child, script = room.start(['./%s/link' % folder]), room.start(['./%s/tool' % folder])
    wait_for('the programs to start', lambda: (command_of(child.pid), command_of(script.pid)) == ('link', 'tool'))
    problems = []
    for path in ('./%s/link' % folder, room.path('loop'), 'loop', room.path(folder, 'link')):
        done = attached(room, '-o', 'a', '-t', path if '/' in path else './' + path)
        problems += has_line(done, r'functrace: attached to link \(%d\), .*' % child.pid)
    for path in ('./%s/tool' % folder, room.path(folder, 'tool'), '%s/../%s/tool' % (folder, folder)):
        done = attached(room, '-o', 'a', '-t', path)
        problems += has_line(done, r'functrace: attached to tool \(%d\), .*' % script.pid)
    os.makedirs(room.path('other', folder))
    room.run(['cp', room.path('loop'), room.path('other', folder, 'link')])
    # The first was started by the same words in another folder, the second by its name in PATH.
    for words in 'cd other && exec ./%s/link' % folder, 'cd %s && PATH=%s exec link' % (folder, room.path('other', folder)):
        there = room.start(['sh', '-c', words])
        wait_for('the program to start', lambda: command_of(there.pid) == 'link')
        done = attached(room, '-o', 'a', '-t', './%s/link' % folder)
        problems += has_line(done, r'functrace: attached to link \(%d\), .*' % child.pid)
        room.kill(there)
    os.unlink(room.path('loop'))
    for path in ('./%s/link' % folder, room.path('loop')):
        done = attached(room, '-o', 'a', '-t', path)
        problems += has_line(done, r'functrace: attached to link \(%d\), .*' % child.pid)
    for path in (room.path('nothing'), room.path(folder), room.path('gate')):
        problems += refused(room, [FUNCTRACE, '-t', path], 2, 'functrace: -t %s: this is no process id, and no process runs '
                            "that program; 'pgrep -af %s' looks into whole command lines\n" % (path, path))
    for one in (child, script):
        room.kill(one)
    return problems, ''


LEADERLESS = '''
#include <pthread.h>
static void *goes_on(void *data)
{
	keeps_all(0, data);
	return data;
}
int main(void)
{
	pthread_t id;

	pthread_create(&id, NULL, goes_on, NULL);
	pthread_exit(NULL);
}
'''


def leader_ended(room):
    """A process whose first thread has ended is found by its name and its path, and has its name in messages."""
    need_attach()
    name = 'f%x-of-more-than-15' % time.time_ns()
    child = room.start([compiled(room, name, LOOP.replace('int main', 'static int keeps_all') + LEADERLESS, '-pthread')])
    wait_for('the first thread to end', lambda: 'Z' in (status_field(child.pid, 'State') or ''))
    problems = []
    for which in (name, room.path(name), str(child.pid)):
        done = attached(room, '-o', 'a', '-t', which)
        problems += has_line(done, r'functrace: attached to %s \(%d\), [12] threads?, \d+ functions; Ctrl-C detaches functrace' % (
            name, child.pid))
        problems += equal('a summary of ' + name, [told[1] for told in summary(done)], [name])
    room.kill(child)
    return problems, ''


# ---- --duration ----

def for_a_time_attached(room):
    need_attach()
    child = running(room, compiled(room, 'loop', LOOP))
    # The time must be longer than the program may be without a CPU, because it must make a call.
    done = room.run([FUNCTRACE, '-o', 'a', '--duration=5', '-t', str(child.pid)])
    problems = equal('status', done.status, 0) + equal('TracerPid', status_field(child.pid, 'TracerPid'), '0')
    problems += [] if summary(done) and summary(done)[0][2] else ['no events: ' + said(done)]
    room.kill(child)
    return problems, ''


def for_a_time_launched(room):
    """After the duration functrace detaches; the program runs to its end, and functrace ends with its status."""
    script = 'while [ "$(sed -n s/TracerPid:.//p /proc/$$/status)" != 0 ]; do sleep 0.1; done; echo free; exit 7'
    done = room.run([FUNCTRACE, '-F', '-o', 'a', '--duration=1', 'sh', '-c', script])
    problems = equal('status and output', (done.status, done.out), (7, b'free\n'))
    return problems + ([] if len(summary(done)) == 1 else ['functrace said: ' + said(done)]), ''


# ---- Processes that functrace waits for ----

def sleeps(room, count):
    """Waits until this many of the scenario's processes have executed sleep, and returns them."""
    def found():
        pids = [p for p in room.processes() if command_of(p) == 'sleep']
        return pids if len(pids) == count else None
    return wait_for('%d processes that sleep' % count, found)


def outlived(room, output, script):
    """Launches a program that ends before its descendants. Returns functrace when it has said what it waits for."""
    with open(room.path('said'), 'wb') as file:
        tracer = room.start([FUNCTRACE, '-o', output, 'sh', '-c', script], stderr=file, stdout=subprocess.DEVNULL)
    wait_for('the message', lambda: b'Ctrl-C' in open(room.path('said'), 'rb').read() or tracer.poll() is not None)
    return tracer


def result_of(room, tracer):
    done = room.finish(tracer)
    with open(room.path('said'), 'rb') as file:
        done.err = file.read()
    return done


def daemon(room):
    """Processes that outlive the launched program: functrace waits for them and says so; Ctrl-C detaches. functrace
    prints no message with -q, or if the processes end soon."""
    # The program ends only after the last of its three descendants was forked: functrace counts them a second later.
    script = 'sleep 600 & (sleep 600 & echo >begun; wait) & read x <begun; exit 4'
    os.mkfifo(room.path('begun'))
    problems = []
    for how, status, words in (('exit 4', 4, 'has ended with status 4'), ('kill -9 $$', -9, 'was killed by signal 9')):
        tracer = outlived(room, 'a', script.replace('exit 4', how))
        # A process that has not yet executed sleep would be overlooked, and left over.
        sleepers = sleeps(room, 2)
        tracer.send_signal(signal.SIGINT)
        done = result_of(room, tracer)
        problems += equal('status', done.status, status)
        problems += has_line(done, 'functrace: sh %s; 3 of its descendants are still traced; Ctrl-C detaches functrace' % words)
        problems += equal('messages about Ctrl-C', said(done).count('Ctrl-C'), 1)
        for pid in sleepers:
            if os.path.exists('/proc/%d' % pid):
                os.kill(pid, signal.SIGKILL)
    quiet = room.run([FUNCTRACE, '-q', '-o', 'b', 'sh', '-c', 'sleep 2 & exit 4'])
    problems += equal('with -q', (quiet.status, said(quiet)), (4, ''))
    tracer = outlived(room, 'c', 'sleep 600 & exit 4')
    os.kill(sleeps(room, 1)[0], signal.SIGKILL)
    one = result_of(room, tracer)
    problems += has_line(one, 'functrace: sh has ended with status 4; 1 of its descendants is still traced; Ctrl-C detaches functrace')
    soon = room.run([FUNCTRACE, '-o', 'd', 'sh', '-c', 'exit 4'])
    return problems + equal('a message about a process that ends soon', 'Ctrl-C' in said(soon), False), ''


def never_resumed(room):
    """--start-paused prints how to resume, and at the end that tracing was never resumed; with -q nothing."""
    need_attach()
    program = builds.target('images', 'O0')
    done = room.run([FUNCTRACE, '-o', 'a', '-S', 'SIGUSR2', '--start-paused', program, '0'])
    problems = [] if re.fullmatch(r'functrace: tracing is paused; kill -USR2 \d+ resumes it\n'
                                  r'functrace: tracing was never resumed, so that there is no trace\n', said(done)) else \
        ['functrace said: ' + said(done)]
    quiet = room.run([FUNCTRACE, '-q', '-S', 'USR1', '--start-paused', program, '0'])
    problems += equal('with -q', said(quiet), '') + equal('files', os.listdir(room.folder), [])
    child = running(room, compiled(room, 'loop', LOOP))
    pid = str(child.pid)
    none = attached(room, '-S', 'USR1', '--start-paused', '-o', 'b', '-t', pid)
    problems += equal('the last line', said(none).splitlines()[-1:],
                      ['functrace: tracing was never resumed, so that there is no trace'])
    room.kill(child)
    return problems, ''


def paused_blocks(room):
    """Blocks that were allocated while tracing was paused are not called blocks from before the attach. The command
    that resumes is the printed one."""
    need_attach()
    source = '''
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	void *volatile block;

	getchar();
	block = malloc(31234);
	if (write(1, "m", 1) != 1)
		return 1;
	getchar();
	free(block);
	return 0;
}
'''
    program = compiled(room, 'pauses', source)
    problems = []
    for is_launch, words in ((False, 'from before functrace attached'), (True, 'that was not seen allocated')):
        with open(room.path('said'), 'wb') as file:
            child = None if is_launch else room.start([program], stdin=-1)
            tracer = room.start([FUNCTRACE, '-S', 'USR1', '--start-paused', '--no-baseline', '-o', 'a'] +
                                ([program] if is_launch else ['-t', str(child.pid)]), stdin=-1, stderr=file)
        target = tracer if is_launch else child

        def text():
            with open(room.path('said')) as file:
                return file.read()
        wait_for('the pause', lambda: 'resumes it' in text())
        pid = int(re.search(r'kill -USR1 (\d+) resumes', text()).group(1))
        os.write(target.stdin.fileno(), b'x')
        # The program says that it has allocated the block, while tracing is paused.
        problems += equal('the program said', os.read(target.stdout.fileno(), 1), b'm')
        os.kill(pid, signal.SIGUSR1)
        wait_for('the trace', lambda: 'tracing is on' in text())
        os.write(target.stdin.fileno(), b'x')
        done = room.finish(tracer)
        with open(room.path('said'), 'rb') as file:
            done.err = file.read()
        problems += has_line(done, r'functrace: 1 release of a block %s, or from while tracing was paused' % words)
        problems += equal('never resumed', 'never' in said(done), False)
        if child:
            room.finish(child)
    return problems, ''


# ---- Functions that cannot be found ----

def symbols(room):
    """--symbol-address names a place that does not exist."""
    program = builds.target('images', 'O0')
    done = room.run([FUNCTRACE, '-o', 'a', '--symbol-address=malloc=0x7fffffff', '--symbol-address=nothing=0x1000', program, 'exec'])
    problems = has_line(done, r'functrace: warning: --symbol-address=malloc=0x7fffffff: %s has no code there; give the function\'s '
                              r'address in the file, as nm or objdump print it' % re.escape(program))
    problems += has_line(done, 'functrace: warning: --symbol-address=nothing=0x1000: no function of this name is to be traced')
    return problems + equal('warnings', said(done).count('--symbol-address'), 2) + equal('status', done.status, 0), ''


COUNTING = '''
#include <stdio.h>
__attribute__((noinline)) unsigned mixes(unsigned value)
{
	return value * 0x90909091u + 0x12345678u;
}
int main(int argc, char **argv)
{
	(void)argv;
	printf("%x\\n", mixes(mixes((unsigned)argc)));
	return 0;
}
'''


def inside_a_function(room):
    """--symbol-address for a place inside a function is refused, by symbols or unwind tables. Another program, for which the
    option is not meant, gets a breakpoint only if a function begins there. All results are right."""
    named = compiled(room, 'named', COUNTING, '-no-pie', '-fno-pie', '-fno-asynchronous-unwind-tables')
    framed = compiled(room, 'framed', COUNTING, '-no-pie', '-fno-pie', '-s', '-fasynchronous-unwind-tables')
    bare = compiled(room, 'bare', COUNTING, '-no-pie', '-fno-pie', '-s', '-fno-asynchronous-unwind-tables')
    twin = compiled(room, 'twin', COUNTING, '-no-pie', '-fno-pie', '-fasynchronous-unwind-tables')
    right = room.run([named]).out
    problems = []
    for program, twin in ((named, named), (framed, twin), (bare, named)) if LONG else ((framed, twin), (bare, named)):
        symbols = dict(line.split()[::2][::-1] for line in room.run([*builds.NM, twin]).out.decode().splitlines()
                       if len(line.split()) == 3)
        start = int(symbols['mixes'], 16)
        for offset in (1, 6):
            option = '--symbol-address=malloc=%016x' % (start + offset)
            done = room.run([FUNCTRACE, '-o', 'a', option] + (['sh', '-c', 'exec ' + program] if program == bare
                                                              else [program]))
            problems += equal(program, (done.status, done.out), (0, right))
            if program != bare:
                problems += has_line(done, 'functrace: warning: --symbol-address=malloc=0x%x is not traced: in %s no function begins '
                                           "there, the address is inside the function at 0x%x; give the function's address in the file, as "
                                           'nm or objdump print it' % (start + offset, re.escape(program), start))
        done = room.run([FUNCTRACE, '-o', 'a', '--symbol-address=malloc=' + symbols['mixes'], program])
        problems += equal('at the start of the function', (done.out, '--symbol-address' in said(done)), (right, False))
    return problems, ''


def libraries(room):
    """-L with a name that selects no library: the message has the name, and the existing libraries."""
    program = builds.target('images', 'O0')

    def warned(*options):
        done = room.run([FUNCTRACE, '-o', 'a'] + list(options) + [program, '0'])
        return equal('status', done.status, 0), [line for line in said(done).split('\n') if 'warning' in line]
    problems, lines = warned('-L', 'nosuch')
    libc = r'/\S*/libc\.\S+(, /\S+)*'
    problems += matches(lines, [r'functrace: warning: -L nosuch: no object has this in its path\. Functions to be traced are '
                                r'defined by: ' + libc])
    more, lines = warned('-L', 'images-O0')
    problems += more + matches(lines, [
        r'functrace: warning: -L images-O0: the object with this in its path \(%s\) defines none of the functions to be traced\. '
        r'They are defined by: %s' % (re.escape(program), libc)])
    # One of two names selects a library; there are two processes.
    more, lines = warned('-L', 'libc.,nosuch', *([] if kinds.is_busybox(kinds.need('env')) else ['env']))
    problems += more + matches(lines, [r'functrace: warning: -L nosuch: no object has this in its path'])
    more, lines = warned('-L', 'libc.')
    return problems + more + matches(lines, []), ''


def deleted(replaced):
    """The file of a running program was deleted or replaced: with -r all names are right."""
    def run(room):
        need_attach()
        child = running(room, compiled(room, 'loop', LOOP))
        os.unlink(room.path('loop'))
        if replaced:
            shutil.copy('/bin/ls', room.path('loop'))
        live = attached(room, '-f', 'text', '-r', '-o', 'a', '-t', str(child.pid), until=lambda: has_events(room, 'a'))
        with open(room.path('a')) as file:
            text = file.read()
        problems = [] if re.search(r'in keeps_a_block\(\) at \S*loop\.c:7\n', text) else ['no names in ' + text[:2000]]
        hint = "functrace: the program's file has been deleted or replaced: to get names of its functions, trace with -f text -r " \
            "while it runs\n"
        problems += equal('the recommended command with names', hint in said(live), False)
        plain = attached(room, '-o', 'b', '-t', str(child.pid), until=lambda: has_events(room, 'b'))
        problems += equal('the recommended command', hint in said(plain), True)
        problems += has_line(plain, r'functrace: process \d+ \(loop\): .*')
        room.kill(child)
        return problems, ''
    return run


def other_mounts(room):
    """The process is in another mount namespace: the command that functrace recommends finds the process's files."""
    need_attach()
    own_pids()
    kinds.need('pivot_root')
    compiled(room, 'loop', LOOP)
    made = room.run(builds.compiler() + ['-g', '-O0', '-static', '-o', room.path('loop'), room.path('loop.c')])
    if made.status:
        raise builds.Skip('no static C library')
    os.mkdir(room.path('root'))
    child = room.start(['unshare', '-m', 'sh', '-c', 'mount -t tmpfs tmpfs root && cp loop root/inner && cd root && '
                        'mkdir old && pivot_root . old && exec /inner'])
    wait_for('the program to start', lambda: command_of(child.pid) == 'inner')
    done = attached(room, '-o', 'a', '-t', str(child.pid), until=lambda: has_events(room, 'a'))
    problems = has_line(done, r'functrace: to see the live resources \(for lost blocks, trace with --scan\): functrace-postproc --report --sysroot=/proc/%d/root a' % child.pid)
    shown = room.run([POSTPROC, '-l', '-c', '-r', '--sysroot=/proc/%d/root' % child.pid, 'a']).out
    if b'in keeps_a_block() at ' not in shown:
        problems.append('no names: ' + shown.decode()[-500:])
    room.kill(child)
    return problems, ''


def descriptors(room):
    """-o /dev/stdout is the same as -, and the trace can be written to a shell's >(COMMAND)."""
    bash = kinds.need('bash')
    command = [FUNCTRACE, '-q', '-f', 'text', '-o', '/dev/stdout', builds.target('images', 'O0'), '0']
    plain = room.run(command)
    problems = equal('the trace on standard output', plain.out.count(b'malloc(30100)'), 1)
    done = room.run([bash, '-c', '"$0" -q -f text -o >(cat > piped) "$@"; while ! grep -q exited piped; do sleep 0.1; done',
                     FUNCTRACE, builds.target('images', 'O0'), '0'])
    with open(room.path('piped'), 'rb') as file:
        problems += equal('the trace in the pipe', file.read().count(b'malloc(30100)'), 1)
    problems += equal('status', done.status, 0)
    return problems + refused(room, [FUNCTRACE, '-o', '/dev/fd/999', 'true'], 2,
                              'functrace: -o /dev/fd/999: there is no such open descriptor\n'), ''


# ---- The summary ----

def quoted(room):
    """The recommended command that shows the leaks is quoted for a shell, whatever the file's name; there is none if
    the trace is not in a file."""
    program, hints = builds.target('images', 'O0'), []
    problems = []
    for name in ("it's a 'trace'", 'a$HOME`b`\\', *(["'", '-x y', 'plain-1.r'] if LONG else [])):
        done = room.run([FUNCTRACE, '-o', name, program, '0'])
        hints = re.findall(r'^functrace: to see the live resources \(.*\): (functrace-postproc .*)$', said(done), re.M)
        problems += equal('hints of %r' % name, len(hints), 1)
        for hint in hints:
            shown = room.run(['sh', '-c', hint.replace('functrace-postproc', POSTPROC, 1)])
            problems += equal('the output of %s' % hint,
                              b'\n            30,100 bytes in 1 block alive at the end\n' in shown.out,
                              True)
    bash = kinds.need('bash')
    for command in ('"$0" -o /dev/null "$1" 0', '"$0" -o >(cat >/dev/null) "$1" 0', '"$0" -o /dev/fd/7 "$1" 0 7>seven',
                    '"$0" -o - "$1" 0 >out'):
        done = room.run([bash, '-c', command, FUNCTRACE, program])
        problems += equal('a hint by ' + command, (b'1 block with 30,100' in done.err, b'to see' in done.err), (True, False))
    done = room.run([FUNCTRACE, '-o', 'nothing', compiled(room, 'tidy', '#include <stdlib.h>\n#include <unistd.h>\n'
                     'int main(void) { void *volatile p = malloc(7); free(p); _exit(0); }')])
    return problems + equal('the message without live blocks',
                            (b'2 events; 0 blocks with' in done.err, b'to see' in done.err), (True, False)), ''


def most_live(room):
    """If there are many processes, those with the most live bytes are named, and the recommended command is for the
    first of them."""
    program = compiled(room, 'eats', """
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *volatile p = malloc((size_t)atoi(argv[argc - 1]));
	_exit(!p);
}""")
    sizes = (5, 70000, 3, 900000, 1, 80000, 2, 600000, 4, 500000, 6)
    done = room.run([FUNCTRACE, '-o', 'T', 'sh', '-c', '; '.join('"$0" %d' % size for size in sizes) + '; :', program])
    lines = [line for line in said(done).split('\n') if '(eats)' in line]
    problems = matches(lines, [r'functrace: process \d+ \(eats\): 1 event; 1 block with %s bytes is live; trace: T\.\d+' % size
                               for size in ('900,000', '600,000', '500,000', '80,000', '70,000')])
    problems += has_line(done, r'functrace: process \d+ \(sh, .*')
    problems += has_line(done, r'functrace: and 6 more traces, with fewer live bytes each; [\d,]+ events in all')
    if not problems:
        problems += has_line(done, r'functrace: to see the live resources \(for lost blocks, trace with --scan\) in the trace with the most live bytes: '
                             r'functrace-postproc --report ' + lines[0].split()[-1])
        problems += has_line(done, r'functrace: to see all \d+ traces together: functrace-postproc --report T T\.\[0-9\]\*')
    os.mkdir(room.path("it's"))
    done = room.run([FUNCTRACE, '-o', "it's", 'sh', '-c', '; '.join('"$0" %d' % size for size in sizes) + '; :', program])
    hint = re.search(r'^functrace: to see all (\d+) traces together: functrace-postproc (--report .*/\*\.rtrace)$', said(done), re.M)
    one = re.search(r'^functrace: to see .* in the trace with the most live bytes: functrace-postproc (--report .*)$', said(done), re.M)
    if not hint or not one:
        return problems + ['no hint for a folder: %s' % said(done)], ''
    shown = room.run(['sh', '-c', '"$0" ' + hint[2], POSTPROC]).out.decode()
    problems += equal('traces', int(hint[1]), len(os.listdir(room.path("it's"))))
    problems += equal('the output of the command', '2,150,021 bytes in 11 blocks' in shown, True)
    shown = room.run(['sh', '-c', '"$0" ' + one[1], POSTPROC]).out.decode()
    problems += equal('the process with the most live bytes',
                      '900,000 bytes in 1 block alive at the end' in shown, True)
    return problems, ''


REPEATS = """
#include <stdlib.h>
#include <unistd.h>
static char places[4][16];
static int next;
void *je_malloc(size_t size)
{
	return size ? places[next++ % 4] : NULL;
}
void je_free(void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}
int main(int argc, char **argv)
{
	void *volatile p = NULL;
	for (int i = 0; argv[argc - 1][0] == 'r' && i < 10; i++)
		p = je_malloc(100);
	for (int i = 0; argv[argc - 1][0] == 'd' && i < 3; i++) {
		p = je_malloc(100);
		je_free(p);
		je_free(p);
	}
	_exit(!p);
}
"""


def unseen_releases(room):
    """If an id is allocated again, it was released unseen: the summary and functrace-postproc -l have the same
    numbers."""
    done = room.run([FUNCTRACE, '-o', 'R', compiled(room, 'again', REPEATS), 'reuse'])
    shown = room.run([POSTPROC, '-l', 'R']).out.decode()
    problems = has_line(done, r'functrace: process \d+ \(again\): 10 events; 4 blocks with 400 bytes are live; trace: R')
    problems += has_line(done, 'functrace: 6 blocks were allocated again before a release was seen')
    return problems + equal('the leaks', shown[shown.index('# Resource'):], """\
# Resource - memory (memory allocation in bytes):
# 4 block(s) leaked with total size of 400 bytes
# 6 id(s) were allocated again before a release was seen
"""), ''


def released_twice(room):
    """A double release is reported as one if functrace has seen the first release."""
    done = room.run([FUNCTRACE, '-f', 'text', '-o', 'D', compiled(room, 'double', REPEATS), 'double'])
    problems = has_line(done, 'functrace: 3 double releases of blocks')
    problems += has_line(done, r'functrace: to see the wrong releases \(functrace -A also records their stacks\): functrace-postproc D \| '
                               r"grep ' releases 0x'")
    with open(room.path('D')) as file:
        notes = re.findall('^## (je_free .*)', file.read(), re.M)
    return problems + matches(notes, [r'je_free releases 0x[0-9a-f]+ \(event %d\), which je_free has released already '
                                      r'\(event %d\): a double release' % (n, n - 1) for n in (3, 6, 9)]), ''


AGAIN_HERE = """
#include <stdlib.h>
#include <unistd.h>
static char place[16];
__attribute__((noipa)) void *je_malloc(size_t size)
{
	return size ? place : NULL;
}
__attribute__((noipa)) void mi_free(void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}
__attribute__((noipa)) void tc_free(void *p)
{
	mi_free(p);
}
__attribute__((noipa)) void je_free(void *p)
{
	tc_free(p);
}
__attribute__((noipa)) static void direct(void *p)
{
	je_free(p);
	__asm__ volatile("");
}
__attribute__((noipa)) static void by_pointer(void (*release)(void *), void *p)
{
	release(p);
	__asm__ volatile("");
}
int main(void)
{
	void *p = je_malloc(101);
	for (int i = 0; i < 3; i++)
		direct(p);
	p = je_malloc(102);
	for (int i = 0; i < 2; i++)
		by_pointer(je_free, p);
	by_pointer(tc_free, p);
	by_pointer(mi_free, p);
	_exit(0);
}
"""


def released_twice_by_one_line(room):
    """One line releases a block twice: the second release is not taken for a nested call of the first one, whether the
    function calls the next one or jumps to it."""
    problems = []
    for flags in (('-O0', '-U_FORTIFY_SOURCE'), ('-O2',)):
        done = room.run([FUNCTRACE, '-f', 'text', '-o', 'H' + flags[0], compiled(room, 'here', AGAIN_HERE, *flags)])
        with open(room.path('H' + flags[0])) as file:
            text = file.read()
        calls = re.findall(r'^\d+\. \[[^]]*\] (\w+)', text, re.M)
        problems += equal('the calls of ' + flags[0], ' '.join(calls),
                          'je_malloc je_free je_free je_free je_malloc je_free je_free tc_free mi_free')
        problems += has_line(done, 'functrace: 5 double releases of blocks')
    return problems, ''


JOINS = """
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
static sem_t created;
static void *body(void *data)
{
	const struct timespec pause = {0, 300000000};
	void *volatile p = malloc(101);
	while (sem_wait(&created)) /* until pthread_create has returned */
		;
	nanosleep(&pause, NULL);
	p = malloc(102);
	return data;
}
int main(void)
{
	pthread_t thread;
	if (sem_init(&created, 0, 0) || pthread_create(&thread, NULL, body, NULL) || sem_post(&created) ||
	    pthread_join(thread, NULL))
		return 1;
	void *volatile p = malloc(103);
	return !p;
}
"""


def joined_late(room):
    """A thread is live until pthread_join returns, not until it is called."""
    done = room.run([FUNCTRACE, '-f', 'text', '-e', 'memory,thread', '-o', 'J', compiled(room, 'joins', JOINS, '-pthread')])
    trace = trace_text.read(room.path('J'))
    if done.status or trace.problems:
        return trace.problems + [said(done)] * (done.status != 0), ''
    with open(room.path('J')) as file:
        calls = re.findall(r'^\d+\. \[([\d:.]+)\] (pthread_create|pthread_join|malloc<memory>\(10[23]\))', file.read(), re.M)
    problems = equal('the calls', [what for _, what in calls],
                     ['pthread_create', 'malloc<memory>(102)', 'pthread_join', 'malloc<memory>(103)'])
    times = [trace_text.seconds_of(time) for time, _ in calls]
    # The thread begins to be live when pthread_create returns, and sleeps only after that.
    if not problems and (times[2] - times[0]) % 86400 < 0.2:
        problems.append('the thread is alive for %.3f s, and sleeps for 0.300 s' % (times[2] - times[0]))
    return problems, ''


# ---- The README ----

def sample_pattern(line):
    """The pattern of a line in the README's sample: numbers that differ in each run, folders, and files of libraries
    are variable."""
    text = re.escape(line.strip()).replace('\\ ', ' ')
    text = re.sub(r'0x[0-9a-f]+', '0x[0-9a-f]+', text)
    text = re.sub(r'process \d+', r'process \\d+', text)
    text = re.sub(r'\\\[[\d:.\\]+\\\]', r'\\[[\\d:.]+\\]', text)
    text = text.replace('at examples/', r'at \S*examples/')
    text = re.sub(r'\b\d+(\\\.\d+)? (ns|us|ms|s)\b', r'[\\d.]+ (ns|us|ms|s)', text)
    # The C library's own functions have names only if its debug symbols are installed.
    return re.sub(r'in \S+ from /usr/lib.*', r'(in \\S+ )?(from|at) .*', text)


def readme(room):
    """Runs the commands of the README's section "A first leak" as they are; each line of the sample must be in their
    output."""
    with open(os.path.join(builds.TOP_SRCDIR, 'README.md')) as file:
        section = file.read().split('## A first leak', 1)[1].split('`answer_new` made 12 answers', 1)[0]
    lines = [line[4:] for line in section.split('\n') if line.startswith('    ')]
    program = os.path.join(builds.TOP_BUILDDIR, 'examples', 'leak')
    if not os.path.exists(program):
        raise builds.Skip('examples/leak is not built')
    os.mkdir(room.path('examples'))
    room.run(['cp', program, room.path('examples')])
    os.symlink(FUNCTRACE, room.path('functrace'))
    os.symlink(POSTPROC, room.path('functrace-postproc'))
    output, problems, pieces = '', [], [[]]
    for line in lines:
        if line.startswith('$ cd'):
            continue
        if line.startswith('$ '):
            done = room.run(['sh', '-c', line[2:]])
            output += done.out.decode() + done.err.decode()
            problems += equal(line, done.status, 0)
        if line.startswith('$ ') or line.strip().startswith('...'):
            pieces.append([])
        else:
            pieces[-1].append(line)
    # Whether a stack grew in the last tenth of the milliseconds depends on the machine.
    output = re.sub(r'\n *grew by .* in the last .*', '', output)
    # Lines without dots between them must be adjacent.
    for piece in pieces:
        pattern = r'\n\s*'.join(sample_pattern(line) for line in piece)
        if not re.search(r'^\s*%s$' % pattern, output, re.M):
            problems.append('the README shows:\n' + '\n'.join(piece))
    return problems + (['it printed: ' + output] if problems else []), '%d lines compared' % sum(map(len, pieces))


def installed(room):
    """make install installs the README, the news and the examples."""
    if not os.path.exists(os.path.join(builds.TOP_BUILDDIR, 'Makefile')):
        raise builds.Skip('there is no Makefile')
    done = room.run(['make', '-C', builds.TOP_BUILDDIR, 'install-data', 'DESTDIR=' + room.path('root'),
                     'docdir=/doc'], timeout=120)
    found = sorted(os.path.relpath(os.path.join(folder, name), room.path('root', 'doc'))
                   for folder, _, names in os.walk(room.path('root', 'doc')) for name in names)
    return equal('status', done.status, 0) + equal('files', found, [
        'COPYING', 'NEWS.md', 'README.md', 'examples/leak.c', 'examples/leak_cpp.cpp', 'examples/module-template.c',
        'examples/phases.c', 'examples/pool.c', 'examples/pool.conf', 'examples/prefixed.c', 'examples/prefixed.conf', 'examples/shapes.conf',
        'examples/shapes.cpp']), ''


OTHER_MODE = r'''
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* je_malloc is code of the other mode: a far call comes to it, on a stack of low addresses. */
#ifdef __x86_64__
#define HERE ".code64"
#define THERE ".code32"
#define SELECTOR 0x23
#define SP "%%rsp"
#else
#define HERE ".code32"
#define THERE ".code64"
#define SELECTOR 0x33
#define SP "%%esp"
#endif
void *je_malloc(size_t size);
__asm__(".text\n" THERE "\n"
	".globl je_malloc\n.type je_malloc, @function\n"
	"je_malloc: .byte 0x8d, 0x05\n.long 0x120\n" /* lea: of 0x120, or of the address 0x120 bytes after it */
	"lret\n.size je_malloc, . - je_malloc\n" HERE);
static char stack[4096] __attribute__((aligned(16)));
static struct {
	uint32_t address;
	uint16_t selector;
} __attribute__((packed)) far;
static uintptr_t saved, low;

int main(void)
{
	far.address = (uint32_t)(uintptr_t)je_malloc;
	far.selector = SELECTOR;
	low = (uintptr_t)(stack + sizeof(stack));
	for (int i = 0; i < 3; i++) {
		uint32_t made;

		__asm__ volatile("mov " SP ", %1\n\tmov %2, " SP "\n\tlcall *%3\n\tmov %1, " SP
				 : "=a"(made), "+m"(saved) : "m"(low), "m"(far) : "memory", "cc");
		printf("%x\n", made);
		free(malloc(31234));
	}
	return 0;
}
'''


def other_mode(flags):
    def run(room):
        """A 64-bit program executes 32-bit code, or the reverse: this code runs as in an untraced run, and functrace
        says once that it is not traced."""
        if builds.processor() != 'x86_64':
            raise builds.Skip('code of both modes is x86-64\'s')
        if flags:
            builds.need_32_bit()
        program = compiled(room, 'modes', OTHER_MODE, '-no-pie', '-fno-pie', '-fno-builtin', *flags)
        plain = room.run([program])
        if plain.status:
            raise builds.Skip('this machine does not run the program: status %d' % plain.status)
        done = room.run([FUNCTRACE, '-f', 'text', '-o', room.path('trace'), program])
        with open(room.path('trace')) as file:
            calls = re.findall(r'^\d+\. .*?(\w+)\((\d+|0x)', file.read(), re.M)
        sentence = (r'functrace: warning: process \d+ \(modes\) calls je_malloc in another mode of the processor \(by a far call, '
                    r'between code of 32 and of 64 bits\): functrace cannot trace such a call, and traces this function no more')
        return (equal('output', (done.status, done.out), (plain.status, plain.out)) + has_line(done, sentence) +
                equal('messages', said(done).count('another mode'), 1) +
                equal('mallocs', calls.count(('malloc', '31234')), 3) +
                equal('je_mallocs', len([c for c in calls if c[0] == 'je_malloc']), 0)), plain.out.decode().split('\n')[0]
    return run


GO = r'''
#include <stdlib.h>
#include <unistd.h>
#ifdef GO
/* As Go's linker writes it. */
__attribute__((section(GO), used)) static const char mark[] = "go";
#endif
#ifdef STATIC
/* No C library, as Go's own programs. */
__asm__(".text\n.globl _start\n_start: mov $60, %eax\nxor %edi, %edi\nsyscall");
#else
int main(void)
{
	free(malloc(31234));
	return 0;
}
#endif
'''


def go_programs(room):
    """functrace recognises a Go program by its section, says that Go's own allocations are not traced, and does not
    advise to look for malloc."""
    if builds.processor() != 'x86_64':
        raise builds.Skip('the program is made of x86-64 instructions')
    bare, stripped, problems = ['-DSTATIC', '-static', '-nostdlib', '-O0'], ['-s'], []
    none = (r'functrace: warning: none of the functions to be traced was found in process \d+ \(%s\): it is a Go program, whose code '
            r"has an allocator of its own, which is not traced; Go's pprof shows the allocations of Go's code")
    some = (r'functrace: warning: process \d+ \(%s\) is a Go program: calls of its C code are traced, Go\'s own allocator '
            r"is not; Go's pprof shows the allocations of Go's code")
    for i, (section, options, words, times) in list(enumerate([
            ('.note.go.buildid', bare, none, 1), ('.go.buildinfo', bare + stripped, none, 1),
            ('.note.go.buildid', stripped, some, 1), ('.go.buildinfo', [], some, 1), (None, bare + stripped, none, 0), (None, [], some, 0)]))[::1 if LONG else 3]:
        name = 'gopher%d' % i
        program = compiled(room, name, GO, '-fno-builtin', *(options + (['-DGO="%s"' % section] if section else [])))
        done = room.run([FUNCTRACE, '-f', 'text', '-o', room.path('trace'), program])
        problems += equal('status', done.status, 0) + equal(
            '%s %s: messages' % (section, options), len(re.findall('^%s$' % (words % name), said(done), re.M)), times)
        problems += equal('%s %s: --symbol-address' % (section, options), '--symbol-address' in said(done), '-DSTATIC' in options and not section)
        problems += equal('Go', said(done).count('Go program'), times)
    return problems, ''


CASES = [
    ("a message says that Go's own allocations are not traced", go_programs),
    ('32-bit code in a 64-bit program', other_mode([])),
    ('64-bit code in a 32-bit program', other_mode(builds.THIRTY_TWO)),
    ('the message after attaching', attached_line),
    ('a program\'s name is the one it was started by', started_by),
    ('-t with a name', by_name),
    ('a master and its children', family),
    ('-t with a path', by_path),
    ('-t with a name, the first thread has ended', leader_ended),
    ('--duration, attached', for_a_time_attached),
    ('--duration, launched', for_a_time_launched),
    ('processes that outlive the program', daemon),
    ('--start-paused, never resumed', never_resumed),
    ('blocks that are allocated while tracing is paused', paused_blocks),
    ('--symbol-address for a place that does not exist', symbols),
    ('--symbol-address inside a function', inside_a_function),
    ('-L that selects no library', libraries),
    ('names of a program whose file was deleted', deleted(False)),
    ('names of a program whose file was replaced', deleted(True)),
    ('a program in another mount namespace, its names', other_mounts),
    ('-o to a descriptor', descriptors),
    ('the recommended command is quoted for a shell', quoted),
    ('many processes: those with the most live bytes are named', most_live),
    ('an id that is allocated again was released unseen', unseen_releases),
    ('a double release is reported if the first release was seen', released_twice),
    ('the time when a thread is joined', joined_late),
    ('one line releases a block twice: the second release is not nested', released_twice_by_one_line),
    ("the README's sample", readme),
    ('make install', installed),
]
