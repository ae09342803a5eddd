"""Tests the leak check of a traced process: exactly the lost blocks among the blocks that are live at its end are
reported, and the process ends as without functrace."""

import collections
import os
import re
import signal
import subprocess
import sys

import builds
import kinds
from lifecycle import need_attach
from processes import FUNCTRACE, PATIENCE, POSTPROC, rounds, text_differences, text_of, wait_for
from rounds import LONG
from scans import OTHER, Target, wide
from words import compiled

BUILDS = [('busyheap', 'O2'), ('heapfigures', 'O2'), ('heapfigures', 'static'), ('planted', 'O2'), ('planted', 'static'),
          ('planted', 'stripped'), ('planted', 'musl'), ('planted', 'm32')]
SAID = re.compile(rb'^## lost <1> 0x[0-9a-f]+ ([a-z]+)$', re.M)


def traced(room, options, command, **more):
    return room.run([FUNCTRACE, *options, '--'] + [str(word) for word in command], data=b'', **more)


def classes(trace):
    return dict(collections.Counter(word.decode() for word in SAID.findall(trace)))


def is_near(found, wanted, variant):
    """In 32-bit processes a word may look like a pointer into a lost block, which is then possibly lost."""
    if not builds.is_narrow(variant):
        return found == wanted
    return sum(found.values()) == sum(wanted.values()) and \
        all(abs(found.get(name, 0) - wanted[name]) <= 5 for name in ('definitely', 'possibly'))


def planted(room, variant='O2', threads=4, lost=2000, linked=1, form='rtrace', runs=1, env=None):
    """The target has blocks without a pointer to them, blocks to which only lost blocks point, and blocks with only an
    interior pointer. All threads are inside some function when main() returns."""
    command = [builds.target('planted', variant), threads, lost, linked]
    wanted = {'definitely': lost, 'indirectly': lost * linked, 'possibly': threads}
    problems = []
    for number in range(runs):
        path = room.path('trace-%d' % number)
        done = traced(room, ['--scan', '-e', 'memory', '-f', form, '-o', path], command, env=env)
        if done.status or done.out != b'ready\n':
            problems.append('status %d: %s' % (done.status, done.err.decode()))
            continue
        text = room.run([POSTPROC, '-q', path]).out
        if not is_near(classes(text), wanted, variant) or text.count(b'\n## scan <1>\n') != 1:
            problems.append('run %d: %s' % (number, classes(text)))
        # The records of leaks come after all calls, and their sizes are those that the program requested.
        found = room.run([POSTPROC, '-q', '-f', 'json', path]).out
        leaked = lost * (wide(56, variant) + wide(40, variant) * linked), lost + lost * linked
        if classes(text) == wanted and b'"leaked":{"bytes":%d,"count":%d}' % leaked not in found:
            problems.append('run %d: %s' % (number, found[:400].decode()))
        for options in (['-l', '--show-leak-kinds=all'], ['-c']):
            again = room.run([POSTPROC, '-q', *options, path]).out
            if classes(again) != classes(text) or classes(again[:again.rindex(b'\n\n')]):
                problems.append('run %d, %s: %s' % (number, options[0], classes(again)))
        # Without that option only the lost blocks are listed.
        listed, found = room.run([POSTPROC, '-q', '-l', path]).out, classes(text)
        if listed.count(b'. [') != found['definitely'] + found.get('indirectly', 0):
            problems.append('run %d, -l lists %d blocks' % (number, listed.count(b'. [')))
    return problems, ''


REPORT = r'''memory      [\d,]+ bytes in 2,036 blocks allocated, 0 released
            [\d,]+ bytes in 2,036 blocks alive at the end
              %d bytes in 10 blocks definitely lost: no pointer leads to them
              %d bytes in 20 blocks indirectly lost: only lost blocks lead to them
              %d bytes in 2 blocks possibly lost: reached only through an interior pointer, or perhaps from memory not copied
              [\d,]+ bytes in 2,004 blocks still reachable
'''


def report(room, env=None):
    """The report for people, and the exit statuses."""
    program = builds.target('planted', 'O2')
    command = [program, 2, 10, 2, '--report-x']
    done = traced(room, ['--report', '--error-exitcode=9'], command, env=env)
    out = done.out.decode()
    problems = []
    lost = wide(56) * 10, wide(40) * 20, wide(104) * 2
    first = 'memory: lost, by stack\n\n  1. %d bytes in 20 blocks' % lost[1]
    if done.status != 9 or not re.search(REPORT % lost, out) or first not in out:
        problems.append('status %d: %s%s' % (done.status, out, done.err.decode()))
    # The suggested command has all arguments of the program, which ignores the last one.
    if not re.search(r'^next  .*: functrace --report=alive --error-exitcode=9 -- \S+ 2 10 2 --report-x$', out, re.M):
        problems.append('the report suggests another command: ' + out)
    if 'plant at planted.c' not in out:
        problems.append('the report has no stack: ' + out)
    for options, command, status, said in (
            (['--error-exitcode=9'], [program, 2, 0], 0, b'Nothing is lost.'),
            (['--error-exitcode=9', '--scan=off'], [program, 2, 0], 9, b'alive at the end, by stack'),
            (['--error-exitcode=9'], ['/bin/ls', '/'], 0, b'Nothing is lost.'),
            *([(['--error-exitcode=9'], ['/bin/sh', '-c', 'ls / | cat; exec ls /'], 0, b'Nothing is lost.'),
               (['--error-exitcode=9'], [sys.executable, '-c', 'pass'], 0, b'Nothing is lost.')] if LONG else [])):
        if command[0][0] == '/' and os.path.basename(os.path.realpath(command[0])) == 'busybox':
            continue  # in a guest the shell's functions are not found
        done = traced(room, ['--report', *options], command, env=env)
        if done.status != status or said not in done.out:
            problems.append('%s: status %d: %s' % (command, done.status, (done.out + done.err).decode()))
    path = room.path('suppressions')
    with open(path, 'w') as out:
        out.write('leak:plant\n')
    done = traced(room, ['--report', '--error-exitcode=9', '--suppressions=' + path], [program, 2, 10, 2], env=env)
    if done.status:
        problems.append('suppressed: status %d: %s' % (done.status, done.out.decode()))
    return problems, ''


KILLED = '''
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
for _ in range(12):
    libc.memset(libc.malloc(54321), 1, 54321)
if os.fork() == 0:
    os.execv('/bin/true', ['true'])
os.wait()
os.kill(os.getpid(), %d)
'''


def need_wide():
    """Skips 32-bit processes: objects that Python has released keep old words, more of which look like pointers in 32
    bits."""
    if builds.is_narrow('O2'):
        raise builds.Skip('of 32 bits, python3 keeps too many old words that lead to lost blocks')


def killed(room):
    """The process is killed by a signal; at that moment it still has its memory."""
    need_wide()
    problems = []
    for number in (signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL) if LONG else (signal.SIGSEGV,):
        path = room.path('killed')
        done = traced(room, ['--scan', '-e', 'memory', '-f', 'text', '-o', path], [sys.executable, '-c', KILLED % number])
        if done.status != -number:
            problems.append('status %d: %s' % (done.status, done.err.decode()))
        with open(path, 'rb') as trace:
            text = trace.read()
        big = re.findall(rb'\(54321\) = (0x[0-9a-f]+)', text)
        said = [b'## lost <1> %s definitely\n' % address in text for address in big]
        # The pointer to the newest block may be in a register or a live frame, where a stale word may also point to
        # another block.
        if len(big) != 12 or said.count(True) < 10:
            problems.append('%s: of %d blocks %s' % (number, len(big), said))
    return problems, ''


def figures(room, how=(('O2', 0), ('O2', 1), ('O2', 8), ('static', 3), ('m32', 3)), env=None):
    """HINF has the ten figures of the allocator. They are the same as those that the process itself reads, in both
    dialects, with and without --scan. Tagged memory does not come from brk."""
    problems = []
    for variant, threads in how:
        if builds.processor() not in builds.PROCESSORS.get(variant, (builds.processor(),)):
            continue
        for options in (['--scan'], [], ['--compat=sp-rtrace'], ['--scan', '-f', 'text'], ['-f', 'text', '--compat=sp-rtrace'],
                        ['--scan', '--compat=sp-rtrace']):
            path = room.path('figures')
            done = traced(room, ['-e', 'memory', *options, '-o', path],
                          [builds.target('heapfigures', variant), threads], env=env)
            text = room.run([POSTPROC, '-q', path]).out
            heap = re.findall(rb'^##   .* (\S+)$', text[text.find(b'## heap status information:'):], re.M)
            if done.status or [b'%d' % int(value, 0) for value in heap[4:]] != done.out.split():
                problems.append('%s %d %s: %s, not %s' % (variant, threads, options, heap, done.out.split()))
            elif not builds.has_tags(env) and not int(heap[0], 0) < int(heap[2], 0) <= int(heap[1], 0):
                problems.append('%s: the bounds %s' % (variant, heap[:4]))
    return problems, ''


def no_figures(room):
    """Tests traces without figures of the heap, and the message about each of them."""
    problems = []
    large = [sys.executable, '-c', 'import os; b = b"x" * (300 << 20); os._exit(0)']
    for options, command, said, count in (
            (['-e', 'memory'], [builds.target('planted', 'musl'), 1, 2, 0], b"the trace has no figures of the heap: the program's allocator keeps no such figures", 0),
            (['-e', 'memory'], large, b'the trace has no figures of the heap: a copy of the process\'s memory would be too large for these figures alone; --scan makes the copy anyway', 0),
            (['-e', 'memory', '--scan'], large, None, 1),
            (['-e', 'memory', '--no-baseline'], [builds.target('heapfigures', 'O2'), 1], None, 0),
            (['-e', 'memory', '-f', 'swap'], large, None, 0),
            (['-e', 'file'], [builds.target('heapfigures', 'O2'), 1], None, 0),
            (['-e', 'file,memory'], [builds.target('heapfigures', 'O2'), 1], None, 1)):
        if PATIENCE > 1 and '--scan' in options:
            continue  # a guest has no memory for such a copy
        path = room.path('none')
        done = traced(room, [*options, '-o', path], command)
        text = room.run([POSTPROC, '-q', path]).out
        found = re.findall(rb'.* figures of the heap.*', done.err)
        if done.status or text.count(b'## heap status information:\n') != count or \
                found != ([b'functrace: ' + said] if said else []):
            problems.append('%s %s: status %d: %s %s' % (options, command[0], done.status, text[-300:], done.err.decode()))
    # If another allocator is used, the heap of the C library says nothing about the blocks, if it exists at all. A
    # fork's child has its parent's memory, too.
    child = 'import os; b = b"x" * (40 << 20); pid = os.fork(); d = [[] for _ in range(1000)]; pid and os.waitpid(pid, 0); os._exit(0)'
    for options, command, env, said in (
            ([], [builds.target('planted', 'O2'), 1, 400, 0], {'LD_PRELOAD': OTHER}, b"functrace does not understand the program's allocator"),
            (['-o', room.path('forked')], [sys.executable, '-c', child], None, b'a copy of the process\'s memory would be too large for these figures alone; --scan makes the copy anyway')):
        done = traced(room, ['-e', 'memory', *(options or ['-o', room.path('other')])], command, env=env)
        if env and b'cannot be preloaded' in done.err:
            continue
        if done.err.count(b'functrace: the trace has no figures of the heap: %s\n' % said) != 1:
            problems.append('%s: status %d: %s' % (command[0], done.status, done.err.decode()))
    # Each child has a trace without figures.
    many = traced(room, ['-e', 'memory', '-o', room.path('several')], ['sh', '-c', '"$0" 1 2 0; "$0" 1 3 0; :', builds.target('planted', 'musl')])
    if b"functrace: 2 traces have no figures of the heap; the reason for the first: the program's allocator keeps no such figures\n" not in many.err:
        problems.append('several: %s' % many.err.decode())
    return problems, ''


OWN_ALLOCATOR = r'''
#include <stddef.h>
#include <string.h>
#include <unistd.h>
static char room[1 << 20] __attribute__((aligned(16)));
static size_t used;
void *malloc(size_t size)
{
	void *const block = room + used;
	used += (size + 15) & ~(size_t)15;
	return block;
}
void free(void *block)
{
	(void)block;
}
void *calloc(size_t count, size_t size)
{
	return malloc(count * size);
}
void *realloc(void *block, size_t size)
{
	void *const longer = malloc(size);
	return block ? memcpy(longer, block, size) : longer;
}
void *volatile kept;
int main(int argc, char **argv)
{
	char byte;
	(void)argv;
	for (int i = 1; i < argc; i++)
		kept = malloc(32);
	if (write(1, "ready\n", 6) != 6)
		return 1;
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}
'''


def no_heap(room):
    """A process without a heap of a known allocator: if allocations were traced, it has a heap of another allocator; if
    none were, it may have allocated nothing, and its trace lacks nothing."""
    program = compiled(room, 'own', OWN_ALLOCATOR, '-fno-builtin')
    problems = []
    for words, said in (['x'], [b"the trace has no figures of the heap: functrace does not understand the program's allocator"]), ([], []):
        done = traced(room, ['-e', 'memory', '-o', room.path('own-trace')], [program, *words])
        found = re.findall(rb'^functrace: ((?!probes in the kernel).*(?:the heap|no heap|allocator).*)$', done.err, re.M)
        if done.status or found != said:
            problems.append('%s: status %d: %s' % (words, done.status, done.err.decode()))
    need_attach()
    child = room.start([program], stdin=subprocess.PIPE)
    problems += [] if child.stdout.readline() == b'ready\n' else ['it does not run']
    done = room.run([FUNCTRACE, '-e', 'memory', '-o', room.path('attached-trace'), '--duration=%g' % (0.3 * PATIENCE), '-t', str(child.pid)])
    before = re.findall(rb'are unknown: (.*) \(\d+ pauses?, [\d.]+ ms in all\)\. Attach again', done.err)
    if done.status or before != [b'no heap was found: the process has allocated nothing so far, or its allocator is unknown'] or \
            b'figures of the heap' in done.err:
        problems.append('attached to: status %d: %s' % (done.status, done.err.decode()))
    child.communicate(b'', timeout=60 * PATIENCE)
    return problems + (['the process ended with status %d' % child.returncode] if child.returncode else []), ''


def figures_let_go(room):
    """A process to which functrace attaches is stopped twice: for the baseline, and for the figures at the end. With
    --no-baseline it is never stopped."""
    problems = []
    with Target(room, 'busyheap', 'O2', 2) as target:
        for options, count in ((['-e', 'memory'], 1), (['-e', 'memory', '--no-baseline'], 0), (['-e', 'file'], 0)):
            path = room.path('figures-' + ''.join(options))
            done = room.run([FUNCTRACE, *options, '-o', path, '--duration=%g' % (0.3 * PATIENCE), '-t', str(target.pid)])
            text = room.run([POSTPROC, '-q', path]).out
            stood = len(re.findall(rb'was stopped for [0-9.]+ ms', done.err))
            if done.status or text.count(b'## heap status information:\n') != count or stood != 2 * count:
                problems.append('%s: status %d: %s' % (options, done.status, done.err.decode()))
        problems += target.end()
    return problems, ''


def busy(room, threads=4, env=None):
    """functrace detaches from threads that only allocate and release: each time it finds the heap consistent, reports
    no block as lost that is held in stacks or registers, and the threads run on."""
    problems = []
    threads = min(threads, 2) if PATIENCE > 1 else threads  # a slow machine has too little of a processor for each
    with Target(room, 'busyheap', 'O2', threads, env=env) as target:
        for number in range(6 if LONG else 2):
            path = room.path('busy-%d' % number)
            done = room.run([FUNCTRACE, '--scan', '-e', 'memory', '-o', path, '--duration=%g' % (0.3 * PATIENCE), '-t', str(target.pid)])
            text = room.run([POSTPROC, '-q', path]).out
            if done.status or not re.search(b'was stopped for [0-9.]+ ms', done.err) or not text.count(b'\n## scan <1>\n') == 1:
                problems.append('%d: status %d: %s' % (number, done.status, done.err.decode()))
            if classes(text):
                problems.append('%d: %s' % (number, classes(text)))
        problems += target.end()
    return problems, ''


LEAKING = '''
import ctypes, sys, time
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
print('ready', flush=True)
end = time.time() + 60
kept = []
while time.time() < end:
    libc.memset(libc.malloc(54321), 1, 54321)
    kept.append(libc.malloc(12345))
    if len(kept) == 1:
        buffer = (ctypes.c_void_p * 100000)()
    buffer[len(kept)] = kept[-1]
    time.sleep(0.02)
    if select.select([sys.stdin], [], [], 0)[0]:
        break
print('fine')
'''.replace('import ctypes', 'import select, ctypes')


def let_go(room, toggled=False):
    """Blocks that a process loses while it is traced are reported after Ctrl-C, or after the signal that pauses; the
    process runs on."""
    need_wide()
    need_attach()
    child = room.start([sys.executable, '-c', LEAKING], stdin=subprocess.PIPE)
    problems = [] if child.stdout.readline() == b'ready\n' else ['it does not run']
    before, path = text_of(child.pid), room.path('leaking')
    tracer = room.start([FUNCTRACE, '--scan', '-S', 'USR1', '-e', 'memory', '-f', 'text', '-o', path, '-t', str(child.pid)])
    wait_for('some calls', lambda: os.path.exists(path) and open(path, 'rb').read().count(b'(54321)') > 10)
    tracer.send_signal(signal.SIGUSR1 if toggled else signal.SIGINT)
    if toggled:
        wait_for('the scan', lambda: b'\n## scan <1>\n' in open(path, 'rb').read())
        tracer.send_signal(signal.SIGINT)
    done = room.finish(tracer)
    with open(path, 'rb') as trace:
        text = trace.read()
    # The program runs on while functrace reads the copy. Blocks that it allocates then are in no copy, and their
    # records come after the verdict.
    copied = text[:text.find(b'\n## scan <1>\n') + 1]

    def lost(size):
        ids = re.findall(rb'\(%d\) = (0x[0-9a-f]+)' % size, copied)
        return ids, [address for address in ids if b'## lost <1> %s definitely\n' % address in text]

    # The pointer to the newest block may be in a register or in a live frame, where old words may also point to some
    # other blocks. Until the program puts the newest block into the buffer, only a number of Python has its address.
    (losing, found), (kept, wrong) = lost(54321), lost(12345)
    if len(losing) < 10 or len(found) < len(losing) - 4 or set(wrong) - set(kept[-1:]):
        problems.append('of %d lost blocks %d are reported as lost, of %d kept blocks %d' % (
            len(losing), len(found), len(kept), len(wrong)))
    if done.status or text.count(b'\n## scan <1>\n') != 1:
        problems.append('status %d: %s' % (done.status, done.err.decode()))
    problems += text_differences(before, text_of(child.pid))
    out, err = child.communicate(b'\n', timeout=60 * PATIENCE)
    if child.returncode or out != b'fine\n':
        problems.append('the process ended with status %d: %s%s' % (child.returncode, out, err))
    return problems, ''


FAMILY = '''
import os, sys
kept = [bytearray(1000) for _ in range(100)]
for _ in range(int(sys.argv[1])):
    if not os.fork():
        break
print(os.getpid(), flush=True)
sys.stdin.read()
'''
STOPPED_ALL = rb'functrace: (\d+) processes were stopped, each while its memory was copied; the longest pause, of process (\d+), took [0-9.]+ ms(?:\. [^\n]*)?\n'


def stopped(room):
    """A line for each of a few processes says for how long it was stopped at detaching; for many processes there is one
    line."""
    need_attach()
    problems = []
    for count, lines, in_all in ((3, 4, 0), (6, 0, 1)):
        child = room.start([sys.executable, '-c', FAMILY, str(count)], stdin=subprocess.PIPE)
        pids = {int(child.stdout.readline()) for _ in range(count + 1)}
        done = room.run([FUNCTRACE, '--scan', '--no-baseline', '--children', '-e', 'memory', '-o', room.path('family-'),
                         '--duration=%g' % (0.3 * PATIENCE), '-t', str(child.pid)])
        found = {int(pid) for pid in re.findall(rb'process (\d+) was stopped for [0-9.]+ ms while its memory was copied(?:\. [^\n]*)?\n', done.err)}
        said = [tuple(map(int, words)) for words in re.findall(STOPPED_ALL, done.err)]
        good = found == pids and not said if lines else \
            not found and len(said) == in_all and said[0][0] == len(pids) and said[0][1] in pids
        if done.status or not good:
            problems.append('%d processes: status %d: %s' % (len(pids), done.status, done.err.decode()))
        child.communicate(b'', timeout=60 * PATIENCE)
    return problems, ''


def other(room):
    """The allocator is a library: its heap is scanned if functrace knows the allocator, else the lost blocks among the
    traced ones are reported. (The initializer of an unknown allocator may lose one block; a pointer may be left in a
    register.)"""
    problems, skipped = [], []
    for library, is_known in (('libjemalloc.so.2', True), ('libmimalloc.so.2.0', True), (OTHER, False)):
        path = room.path('other')
        done = traced(room, ['--scan', '-e', 'memory', '-o', path], [builds.target('planted', 'O2'), 4, 400, 2],
                      env={'LD_PRELOAD': library})
        if b'cannot be preloaded' in done.err or is_known and builds.processor() != 'x86_64':
            skipped.append('%s is not installed, or not supported here' % library)
            continue
        text = room.run([POSTPROC, '-q', path]).out
        found = classes(text)
        good = found.get('indirectly') == 800 and found.get('possibly', 0) <= 4 and \
            found.get('definitely') in ((400,) if is_known else (400, 401))
        if done.status or not good:
            problems.append('%s: status %d: %s %s' % (library, done.status, found, done.err.decode()))
        if text.count(b'\n## scan <1>\n') != 1 or (b'## heap' in text) != is_known:
            problems.append('%s: %s' % (library, text[-300:].decode()))
    return problems, '; '.join(skipped)


def later(room):
    """Some blocks begin after the start of the allocator's memory for them, because of a header of operator new or an
    alignment. The block in the trace and the allocator's memory are reported as one lost block, and a pointer to the
    block keeps it reachable."""
    problems, skipped = [], []
    wanted = {'definitely': 20, 'indirectly': 6}
    for library in (None, 'libjemalloc.so.2', 'libmimalloc.so.2.0'):
        if library and (builds.processor() != 'x86_64' or not kinds.find_library(library)):
            skipped.append('%s is not installed, or not supported here' % library)
            continue
        path = room.path('later')
        done = traced(room, ['--scan', '-e', 'memory', '-o', path], [builds.target('later', 'O2')], env=library and {'LD_PRELOAD': library})
        found = classes(room.run([POSTPROC, '-q', path]).out)
        if done.status or found != wanted:
            problems.append('%s: status %d: %s %s' % (library, done.status, found, done.err.decode()))
    return problems, '; '.join(skipped)


def unfound(room):
    """If no function was found in a program, its trace has no blocks: the report says that its leaks are unknown, not
    that there are none."""
    program = room.path('program')
    room.run(['strip', '-o', program, builds.target('planted', 'static')])
    done = room.run([FUNCTRACE, '-q', '--report', program, '2', '400', '0'])
    said = b' are unknown: none of the functions to be traced was found in the process'
    if done.status or said not in done.out or b'Nothing is lost' in done.out:
        return ['status %d: %s %s' % (done.status, done.out.decode(), done.err.decode())], ''
    problems = []
    for words, status in (([program, '2', '400', '0'], 9), (['sh', '-c', '"$0" 2 400 0; echo', program], 0)):
        done = room.run([FUNCTRACE, '-q', '--report', '--error-exitcode=9', *words], stdin=subprocess.DEVNULL)
        if (done.status, b'--error-exitcode cannot tell whether there are leaks: the lost blocks of ' in done.err) != (status, status == 9):
            problems.append('%s: status %d: %s' % (words[0], done.status, done.err.decode()))
    return problems, ''


def refused(room):
    problems = []
    for options, said in ((['--scan', '-e', 'file'], b'add -e memory'), (['--scan', '-f', 'mpatrol'], b'has no place'),
                           (['--scan=json'], b'a scan without tracing'),
                          (['--scan', '--why=0x10'], b'a scan without tracing'), (['--scan=x'], b'text, json and off')):
        done = room.run([FUNCTRACE, *options, '-o', room.path('t'), '/bin/true'])
        if done.status != 2 or said not in done.err:
            problems.append('%s: status %d: %s' % (options, done.status, done.err.decode()))
    return problems, ''


CASES = [
    ('lost at the end: planted blocks', planted),
    ('lost at the end: 16 threads', lambda room: planted(room, threads=16, runs=rounds(13))),
    ('lost at the end: one thread', lambda room: planted(room, threads=1, lost=50, linked=3, runs=5)),
    ('lost at the end: static', lambda room: planted(room, 'static')),
    ('lost at the end: stripped', lambda room: planted(room, 'stripped')),
    ('lost at the end: 32 bits', lambda room: planted(room, 'm32', runs=3)),
    ('lost at the end: musl', lambda room: planted(room, 'musl', runs=3)),
    ('lost at the end: a trace in text', lambda room: planted(room, lost=300, form='text')),
    ('lost at the end: a trace in stacktrack\'s format', lambda room: planted(room, lost=300, form='stacktrack')),
    ('lost at the end: the report', report),
    ('lost at the end: killed by a signal', killed),
    ('lost at the end: figures of the allocator', figures),
    ('lost at the end: no figures of the allocator', no_figures),
    ('lost at the end: a process without a known heap is reported', no_heap),
    ('lost at the end: figures of the allocator, detached from', figures_let_go),
    ('lost at the end: detached from', let_go),
    ('lost at the end: paused', lambda room: let_go(room, True)),
    ('lost at the end: detached from, 4 busy threads', busy),
    ('lost at the end: how long processes are stopped at detaching', stopped),
    ('lost at the end: other allocators', other),
    ('lost at the end: blocks after a header or an alignment', later),
    ('lost at the end: no function is found', unfound),
    ('lost at the end: refused', refused),
]
