"""Tests contexts that the program enters by the context library, and contexts of functions that the user names with
--context-function."""

import collections
import os
import re
import signal
import subprocess

import builds
import trace_text
from kinds import Scenario, need
from lifecycle import running
from outputs import equal
from processes import FUNCTRACE, POSTPROC, Failure, Gate, Tracer, may_attach
from words import compiled, has_line, said

FUNCTIONS = ('outer;middle;jump?ng;left_by_jump;interrupted@contexts;deepest;red;blue;green',)
CONTEXT_BUILDS = ('O0', 'O2', 'O2-noframe', 'no-pie', 'static', 'static-pie', 'no-plt', 'z-now', 'cet', 'clang', 'no-slots', 'musl',
                  'musl-static', 'branch-protection', 'arm', 'thumb', 'arm-O0')


def expected_contexts(output):
    """Returns {(kind, size): {contexts: count}}, as the target prints it."""
    expected = collections.defaultdict(collections.Counter)
    for kind, size, names in re.findall(r'^context ([+-]) (\d+) (.*)$', output.decode(), re.M):
        expected[(kind, int(size))][names] += 1
    return expected


def found_contexts(traces):
    found = collections.defaultdict(collections.Counter)
    for trace in traces:
        for event in trace.events:
            size = event.size if event.kind == '+' else event.freed_size
            if size and 37000 <= size < 38000:
                found[(event.kind, size)][event.in_contexts(trace)] += 1
    return found


def contexts_differ(expected, traces):
    found, problems = found_contexts(traces), []
    for key in sorted(set(expected) | set(found)):
        problems += equal('contexts of %s %d' % key, dict(found[key]), dict(expected[key]))
    return problems


class Contexts(Scenario):
    """Every event has the contexts that the target prints."""

    def judge(self, room, variant, plain, traced, *args, **fields):
        problems, remark = super().judge(room, variant, plain, traced, *args, **fields)
        traces = [trace_text.read(room.path('traces', name)) for name in sorted(os.listdir(room.path('traces')))]
        return problems + contexts_differ(expected_contexts(plain.out), traces), remark


def scenario(target, args=(), functions=FUNCTIONS, options=(), **fields):
    for names in functions:
        options += ('--context-function=' + names,)
    return Contexts(target, args, options=options, **fields)


SCENARIOS = [
    scenario('contexts', files=2, variants=CONTEXT_BUILDS),
    scenario('contexts', files=2, variants=('O2', 'static'), modes=('binary', 'compat', 'swap'), label='contexts/file'),
    scenario('contexts', files=2, variants=('O2',), options=('-b', '0'), names=False, label='contexts without stacks'),
    scenario('contexts', ('{library:contexts_library}',), files=2, variants=('O2',), label='contexts/library'),
    scenario('contexts_many', functions=(), variants=('O2', 'static', 'musl')),
    scenario('contexts_many', ('exec',), functions=(), files=2, variants=('O2',), modes=('launch',), label='contexts_many exec'),
    scenario('contexts_throwing', ('{library:contexts_library}',),
             ('outside;thrower(int);plain', 'rethrower;translator'), variants=('O0', 'O2', 'no-pie')),
]


# ---- -C ----

def filters(room):
    """-C selects exactly the calls in a context, in binary and in text, and -C 0 the calls in no context."""
    program = builds.target('contexts', 'O2')
    expected = expected_contexts(room.run([program]).out)
    problems = []
    for name, options in (('t', []), ('x', ['-f', 'text']), ('c', ['--compat=sp-rtrace'])):
        room.run([FUNCTRACE, '-q', '-F', '-b', '0', '-o', name, '--context-function=' + FUNCTIONS[0]] + options + [program])
        shown = trace_text.Trace(name, room.run([POSTPROC, '--compat=none', '-b', '0', room.path(name)]).out.decode())
        bits = {context: ident for ident, context in shown.contexts.items()}
        problems += equal('contexts', sorted(bits), sorted(set(','.join(sum((list(c) for c in expected.values()), [])).split(',')) -
                                                           {'-', 'childish'}))
        for wanted in (['first'], ['second'], ['outer'], ['green', 'other'], ['left_by_jump', 'middle', 'first'], []):
            mask = '%x' % sum(bits[context] for context in wanted)
            done = room.run([POSTPROC, '--compat=none', '-b', '0', '-C', mask, room.path(name)])
            chosen = trace_text.Trace(name, done.out.decode())
            found = collections.Counter(e.size for e in chosen.events if e.kind == '+' and 37000 <= e.size < 38000)
            meant = collections.Counter()
            for (kind, size), names in expected.items():
                for context, count in names.items():
                    if kind == '+' and not 37031 <= size <= 37032 and (
                            set(context.split(',')) & set(wanted) if wanted else context == '-'):
                        meant[size] += count
            problems += equal('-C %s of %s' % (mask, name), dict(found), dict(meant))
            problems += equal('contexts of -C ' + mask, sorted(chosen.contexts.values()), sorted(wanted))
    done = room.run([POSTPROC, '-C', '40000000', room.path('t')])
    problems += equal('the message about a missing context', (done.status, said(done)), (
        1, 'functrace-postproc: -C 40000000 matches nothing: the trace declares no such context, and no call was made in one\n'))
    return problems, ''


# ---- Messages ----

def too_many(room):
    """A program's contexts after the 32nd are not recorded, and one message says so."""
    program = builds.target('contexts_many', 'O2')
    done = room.run([FUNCTRACE, '-f', 'text', '-o', 't', '--context-function=use;take', program])
    trace = trace_text.read(room.path('t'))
    problems = trace.problems + equal('status', done.status, 0)
    problems += has_line(done, r"functrace: warning: process \d+ has more than 32 contexts, and a trace has no room for more: 'c31' and "
                               r'later contexts mark no calls\. Name fewer with --context-function')
    problems += equal('warnings', said(done).count('warning'), 1)
    problems += equal('contexts', list(trace.contexts.values()), ['use', 'take'] + ['c%02d' % i for i in range(1, 31)])
    found = [e.in_contexts(trace) for e in trace.events if e.kind == '+' and 37000 < e.size < 38000]
    problems += equal('masks', found, ['take,use', 'c07,take,use', 'take,use', 'c01,take,use'])
    names = ';'.join('f%d' % i for i in range(33))
    done = room.run([FUNCTRACE, '--context-function=' + names, program])
    return problems + equal('33 on the command line', (done.status, said(done)), (
        2, 'functrace: --context-function: more than 32 functions are given, and a trace has at most that many contexts; name fewer, '
           "or use a pattern\nTry 'functrace --help' for more information.\n")), ''


def not_found(room):
    """Context functions that do not exist are named at the end. A call of a context function that exists is no event,
    and -L has no effect on such a function."""
    program = builds.target('contexts', 'O2')
    done = room.run([FUNCTRACE, '-f', 'text', '-o', 't', '--context-function=nowhere*', '--context-function=outer@libc.so',
                     '--context-function=outer', '-L', 'libc.so', program])
    trace = trace_text.read(room.path('t'))
    problems = has_line(done, r"functrace: warning: nothing matched --context-function 'nowhere\*': 'nm -C FILE' lists .*")
    problems += has_line(done, r"functrace: warning: nothing matched --context-function 'outer@libc\.so': .*")
    problems += equal('warnings', said(done).count('warning'), 2)
    problems += has_line(done, r'functrace: not traced: 2 patterns that matched nothing')
    problems += equal('in outer', sum('outer' in e.in_contexts(trace).split(',') for e in trace.events if e.kind == '+'), 6)
    stripped = builds.target('contexts', 'stripped')
    done = room.run([FUNCTRACE, '-o', 's', '--context-function=outer', stripped])
    problems += has_line(done, r"functrace: warning: nothing matched --context-function 'outer': \S+ is stripped, .*\. "
                               r"Give a function's address: --context-function NAME=ADDRESS")
    return problems, ''


TAILS = r'''
#include <stdlib.h>

#define NOINLINE __attribute__((noipa))
NOINLINE void *leaf(size_t size) { return malloc(size); }
NOINLINE void *jumps(size_t size) { return leaf(size); }
NOINLINE void *calls(size_t size) { void *p = jumps(size + 1); free(p); return jumps(size); }

int main(void)
{
	free(calls(1000));
	free(leaf(3000));
	return 0;
}
'''


def traced_too(room):
    """If a function is both traced and a context, the events of its calls have the contexts of their callers."""
    program = compiled(room, 'tails', TAILS, '-O2', '-fno-optimize-strlen')
    done = room.run([FUNCTRACE, '-f', 'text', '-o', 't', '-e', 'memory', '-x', 'leaf;jumps;calls', '--context-function=jumps;calls', program])
    trace = trace_text.read(room.path('t'))
    found = [(e.function.split('<')[0], e.size if 'memory' in e.function else '', e.in_contexts(trace)) for e in trace.events]
    # If a longjmp leaves several functions at once, the calls of -x are written first.
    expected = [('leaf', '', 'calls,jumps'), ('jumps', '', 'calls'), ('malloc', 1001, 'calls,jumps'), ('free', 0, 'calls'),
                ('leaf', '', 'calls,jumps'), ('jumps', '', 'calls'), ('calls', '', '-'), ('malloc', 1000, 'calls,jumps'),
                ('free', 0, '-'), ('leaf', '', '-'), ('malloc', 3000, '-'), ('free', 0, '-')]
    return trace.problems + equal('calls', found, expected) + equal('status', done.status, 0), ''


# ---- The installed library ----

USER = r'''
#include <functrace/context.h>
#include <stdlib.h>

int main()
{
	const unsigned int id = sp_context_create("installed");

	sp_context_enter(id);
	void *p = malloc(37001);
	sp_context_exit(id);
	free(p);
	return 0;
}
'''


def installed(room):
    """`make install` puts header, libraries and pkg-config file into their places: C and C++ programs are built, shared
    and static."""
    builds.compiler()
    if not os.path.exists(os.path.join(builds.TOP_BUILDDIR, 'Makefile')):
        raise builds.Skip('there is no Makefile')
    need('pkg-config')
    root, problems = room.path('root'), []
    done = room.run(['make', '-s', '-C', builds.TOP_BUILDDIR, 'install-libLIBRARIES', 'install-exec-local', 'install-pkgconfigDATA',
                     'install-contextincludeHEADERS', 'DESTDIR=' + root, 'prefix=/opt', 'exec_prefix=/opt', 'libdir=/opt/lib',
                     'includedir=/opt/include'], timeout=120)
    problems += equal('make', (done.status, said(done)), (0, ''))
    found = sorted(os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names)
    problems += equal('files', found, ['opt/include/functrace/context.h', 'opt/lib/libfunctrace-context.a', 'opt/lib/libfunctrace-context.so',
                                       'opt/lib/libfunctrace-context.so.1', 'opt/lib/pkgconfig/functrace-context.pc'])
    where = {'PKG_CONFIG_PATH': os.path.join(root, 'opt/lib/pkgconfig')}
    flags = {what: room.run(['pkg-config', '--define-variable=prefix=' + root + '/opt', '--define-variable=exec_prefix=' + root + '/opt',
                             '--define-variable=libdir=' + root + '/opt/lib', '--define-variable=includedir=' + root + '/opt/include',
                             '--' + what, 'functrace-context'], where).out.decode().split() for what in ('cflags', 'libs')}
    for suffix, compiler, libraries in (('c', builds.CC, flags['libs']), ('cpp', builds.CXX, flags['libs']),
                                        ('c', builds.CC, [os.path.join(root, 'opt/lib/libfunctrace-context.a')])):
        with open(room.path('user.' + suffix), 'w') as file:
            file.write(USER)
        made = room.run(compiler + ['-Wall', '-Wextra', '-Werror', '-fno-builtin', '-o', 'user'] + flags['cflags'] + ['user.' + suffix] + libraries)
        if made.status:
            raise Failure(said(made))
        env = {'LD_LIBRARY_PATH': os.path.join(root, 'opt/lib')}
        plain = room.run([room.path('user')], env)
        done = room.run([FUNCTRACE, '-q', '-f', 'text', '-o', 't', room.path('user')], env)
        trace = trace_text.read(room.path('t'))
        problems += equal('runs', (done.status, plain.status, said(done)), (0, 0, ''))
        problems += equal('trace', [(e.kind, e.in_contexts(trace)) for e in trace.events if 37001 in (e.size, e.freed_size)],
                          [('+', 'installed'), ('-', '-')])
        problems += equal('allocations by the library', [e.size for e in trace.events if e.kind == '+' and e.size in (2048, 4096, 6168)], [])
    return problems, ''


# ---- Paused tracing ----

COMMANDED = r'''
#include "context/context.c"
#include <stdlib.h>

__attribute__((noipa)) void work(size_t n) { void *volatile p = malloc(n); free(p); }
__attribute__((noipa)) void inside(size_t n) { work(n); work(n + 1); }

int main(void)
{
	unsigned int a = sp_context_create("a"), b = 0;
	char c;

	while (read(0, &c, 1) == 1) {
		if (c == 'a') sp_context_enter(a);
		if (c == 'A') sp_context_exit(a);
		if (c == 'b') sp_context_enter(b = sp_context_create("b"));
		if (c == 'B') sp_context_exit(b);
		if (c == 'w') work(1000);
		if (c == 'i') inside(2000);
		if (write(1, "k", 1) < 0) return 90;
	}
	return 0;
}
'''


def paused(room):
    """Contexts that the program creates, enters and leaves while tracing is paused are right after the resume."""
    program = compiled(room, 'commanded', COMMANDED, '-O1', '-I' + builds.TOP_SRCDIR)
    os.makedirs(room.path('traces'))
    child = room.start([FUNCTRACE, '-S', 'USR1', '-f', 'text', '-b', '0', '-o', room.path('traces'), '--context-function=inside', program],
                       stdin=subprocess.PIPE)

    def command(letters):
        for letter in letters:
            child.stdin.write(letter.encode())
            child.stdin.flush()
            if child.stdout.read(1) != b'k':
                raise Failure('the target has ended')

    def toggle(answer):
        child.send_signal(signal.SIGUSR1)
        while True:
            line = child.stderr.readline()
            if answer in line:
                return
            if not line:
                raise Failure('functrace has ended')
    command('wawi')
    toggle(b'paused')
    command('Abw')
    toggle(b'tracing is on')
    command('wiBwaw')
    done = room.finish(child, data=b'')
    problems = equal('status', done.status, 0)
    expected = [(['a', 'inside'], ['-', 'a', 'a,inside', 'a,inside']),
                (['a', 'inside', 'b'], ['b', 'b,inside', 'b,inside', '-', 'a'])]
    for name, (contexts, masks) in zip(sorted(os.listdir(room.path('traces'))), expected):
        trace = trace_text.read(room.path('traces', name))
        problems += equal('contexts', list(trace.contexts.values()), contexts)
        problems += equal('masks', [e.in_contexts(trace) for e in trace.events if e.kind == '+'], masks)
    return problems + equal('traces', len(os.listdir(room.path('traces'))), 2), ''


# ---- In another pid namespace ----

def namespaced(room):
    """functrace attaches from outside of a pid namespace: the thread ids in the library's table are those of the inner
    namespace."""
    reason = may_attach()
    if reason:
        raise builds.Skip(reason)
    command = [need('unshare'), '--pid', '--fork', '--kill-child']
    if room.run(command + ['true']).status:
        raise builds.Skip('no pid namespace can be made here')
    program = builds.target('contexts', 'O2')
    expected = expected_contexts(room.run([program]).out)
    gate = Gate()
    try:
        child = room.start(command + [program], gate.env, pass_fds=gate.fds)
        gate.started()
        if not gate.arrived(child):
            raise Failure('the target ended before its gate')
        pid, = running(room, os.path.basename(program))
        tracer = Tracer(room, pid, ['--context-function=' + FUNCTIONS[0]])
        tracer.planted()
        gate.open()
        gate.arrived(child)
        problems = tracer.let_go()
        gate.open()
        room.finish(child)
    finally:
        gate.close()
    traces = [trace_text.read(room.path('traces', name)) for name in os.listdir(room.path('traces'))]
    return problems + contexts_differ(expected, traces), '%d traces' % len(traces)


BUILDS = [('contexts', 'O2'), ('contexts', 'stripped'), ('contexts_many', 'O2')]
CASES = [
    ('-C selects exactly the calls of a context', filters),
    ('more than 32 contexts', too_many),
    ('--context-function: functions that are not found, and -L', not_found),
    ('--context-function: functions that are also traced, left by longjmp', traced_too),
    ('the context library as installed', installed),
    ('contexts that change while tracing is paused are right after the resume', paused),
    ('contexts of a program in another pid namespace', namespaced),
]
