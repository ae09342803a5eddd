"""Tests that real programs behave the same traced and untraced, and that their traces can be read."""

import os
import re
import signal
import socket
import subprocess
import sys
import time

import builds
import kinds
import processes
import reflog
from processes import Failure, Gate, Tracer, may_attach, rounds, tasks_of, text_differences, text_of, wait_for
from rounds import LONG

PYTHON_SCRIPT = '''
import collections, json, re, threading, zlib
words = re.findall(r"[a-z]+", " ".join("word%s number%d" % (chr(97 + i % 26), i) for i in range(200)))
counts = collections.Counter(words)
results = []
def work(n):
    results.append((n, zlib.crc32(json.dumps(sorted(counts.items())).encode() * n)))
threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
for t in threads: t.start()
for t in threads: t.join()
print(sorted(results))
raise SystemExit(3)
'''

PYTHON_POOL = '''
import multiprocessing
def square(n): return n * n
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(sum(pool.map(square, range(100))))
'''

PYTHON_BOTH = '''
import multiprocessing, queue, threading, zlib
def square(n):
    return n * n
def work(jobs, results):
    while True:
        n = jobs.get()
        if n is None:
            return
        results.append(zlib.crc32(b"x" * n))
def child(connection, n):
    jobs, results = queue.Queue(), []
    threads = [threading.Thread(target=work, args=(jobs, results)) for _ in range(3)]
    for t in threads: t.start()
    for i in range(20): jobs.put(i * n)
    for t in threads: jobs.put(None)
    for t in threads: t.join()
    connection.send(sorted(results))
    connection.close()
def parent(how, results):
    context = multiprocessing.get_context(how)
    for n in range(1, 3):
        here, there = context.Pipe()
        process = context.Process(target=child, args=(there, n))
        process.start()
        results.append((how, n, sum(here.recv())))
        process.join()
        results.append(process.exitcode)
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(sum(pool.map(square, range(100))))
    both = {how: [] for how in ("fork", "spawn")}
    threads = [threading.Thread(target=parent, args=item) for item in both.items()]
    for t in threads: t.start()
    for t in threads: t.join()
    print(sorted(both.items()))
    raise SystemExit(5)
'''

PERL_FORKS = r'''
use threads; use threads::shared;
$| = 1;
my $sum :shared = 0;
sub work { my $n = shift; my %h = map { $_ => "v" x $_ } 1 .. 20; lock($sum); $sum += $n * keys %h; return $n }
my @threads = map { threads->create(\&work, $_) } 1 .. 2;
my @back = map { $_->join } @threads;
print "threads @back, sum $sum\n";
my %status;
for my $n (1 .. 2) {
    my $pid = fork; die unless defined $pid;
    if (!$pid) { my @list = map { "x" x $_ } 1 .. 30; exit $n }
    waitpid $pid, 0; $status{$n} = $? >> 8;
}
print join(",", map { "$_=$status{$_}" } sort keys %status), "\n";
open my $pipe, "-|", "echo from a pipe; exit 3" or die; print while <$pipe>; close $pipe; print $? >> 8, "\n";
exit 4;
'''

PERL_SCRIPT = r'''
my %count;
$count{$_ % 17} .= "x$_," for 1 .. 300;
my @keys = sort { length($count{$a}) <=> length($count{$b}) || $a <=> $b } keys %count;
print join(" ", map { "$_:" . length $count{$_} } @keys), "\n";
$_ = "a1b22c333"; print "$1\n" while /(\d+)/g;
exit 4;
'''

C_SOURCE = '''
#include <stdio.h>
struct item { int key; struct item *next; };
static int sum(const struct item *i) { int s = 0; for (; i; i = i->next) s += i->key; return s; }
int main(void) { struct item a = {1, 0}, b = {2, &a}; printf("%d\\n", sum(&b)); return 0; }
'''

SQL = 'PRAGMA journal_mode=MEMORY; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); BEGIN;' + \
    ''.join("INSERT INTO t VALUES(%d, '%s');" % (i, 'text' * (i % 20)) for i in range(300)) + \
    'COMMIT; CREATE INDEX i ON t(b); SELECT count(*), sum(length(b)) FROM t; ' \
    'SELECT b, count(*) FROM t GROUP BY b ORDER BY 2 DESC, 1 LIMIT 3;'


def same(room, command, env=None, data=None, at_least=20, files=None, after=None):
    """Runs the command untraced and traced. `after` returns anything else that must be the same after both runs."""
    plain = room.run(command, env, data=data)
    left = after() if after else None
    folder = room.path('traces')
    os.makedirs(folder)
    traced = room.run(kinds.functrace(folder) + command, env, data=data, timeout=120)
    problems = kinds.compare_runs(plain, traced)
    if after and after() != left:
        problems.append('what it left behind differs')
    traces, more = kinds.read_traces(folder, files)
    problems += more
    events = sum(len(t.events) for t in traces)
    if events < at_least:
        problems.append('only %d events in %d traces, expected at least %d; functrace said: %s' % (
            events, len(traces), at_least, traced.err.decode(errors='replace')[-800:]))
    return problems, '%d events in %d traces' % (events, len(traces))


def write(room, name, text):
    with open(room.path(name), 'w') as file:
        file.write(text)
    return room.path(name)


def python_script(room):
    return same(room, [os.path.realpath(sys.executable), write(room, 's.py', PYTHON_SCRIPT)],
                {'PYTHONHASHSEED': '1'}, at_least=500)


def leaks_of(trace_path):
    """Returns {id: size} as functrace-postproc -l lists the blocks of a trace."""
    said = subprocess.run([processes.POSTPROC, '-l', '-c', trace_path], stdout=subprocess.PIPE, check=True,
                          timeout=60).stdout.decode(errors='replace')
    found = {}
    for line in said.splitlines():
        match = re.match(r'\d+\. .*\((\d+)\) = 0x([0-9a-f]+)$', line)
        if match:
            found[int(match.group(2), 16)] = int(match.group(1))
    return found


def live_of(threads):
    """Returns {id: size} of the blocks that are live at the end of the reference logger's log, in which the events of
    all threads are in order."""
    live = {}
    for event in sorted((e for events in threads.values() for e in events), key=lambda e: e.sequence):
        if event.kind == '+':
            live[event.id] = event.size
        else:
            live.pop(event.id, None)
    return live


def logged(room, command, more_env=None, status=0):
    """Traces a program with the reference logger: the events must be the same, and the live blocks that postproc lists,
    too."""
    env = dict(more_env or {}, LD_PRELOAD=builds.logger(), REFLOG=room.path('log'))
    os.makedirs(env['REFLOG'])
    os.makedirs(room.path('traces'))
    done = room.run([kinds.FUNCTRACE, '-o', room.path('traces')] + command, env)
    traces = [os.path.join(room.path('traces'), name) for name in os.listdir(room.path('traces'))]
    threads = reflog.read_folder(env['REFLOG'])
    pids = [int(os.path.basename(path).split('-')[0]) for path in traces]
    if done.status not in (0, status) or len(pids) != 1 or pids[0] not in threads:
        raise Failure('status %d, traces %s, logs %s' % (done.status, pids, sorted(threads)))
    expected, found = live_of(threads[pids[0]]), leaks_of(traces[0])
    wrong = ['%#x: the logger has %s bytes, postproc %s' % (i, expected.get(i), found.get(i))
             for i in sorted(set(expected) | set(found)) if expected.get(i) != found.get(i)]
    return wrong[:5], '%d blocks left, as the logger has them' % len(expected)


def python_logged(room):
    return logged(room, [os.path.realpath(sys.executable), write(room, 's.py', PYTHON_SCRIPT)],
                  {'PYTHONHASHSEED': '1'}, status=3)


def example_logged(name):
    def run(room):
        return logged(room, [os.path.join(os.environ.get('TOP_BUILDDIR', '.'), 'examples', name)])
    return run


def python_multiprocessing(room):
    return same(room, [os.path.realpath(sys.executable), write(room, 's.py', PYTHON_POOL)],
                {'PYTHONHASHSEED': '1'}, at_least=100)


def perl_script(room):
    return same(room, [kinds.need('perl'), write(room, 's.pl', PERL_SCRIPT)],
                {'PERL_HASH_SEED': '1', 'PERL_PERTURB_KEYS': '0'}, at_least=500, files=1)


def python_threads_and_processes(room):
    return same(room, [os.path.realpath(sys.executable), write(room, 's.py', PYTHON_BOTH)],
                {'PYTHONHASHSEED': '1'}, at_least=1000)


def perl_threads_and_forks(room):
    perl = kinds.need('perl')
    if room.run([perl, '-Mthreads', '-e', '1']).status:
        raise builds.Skip('this perl has no threads')
    return same(room, [perl, write(room, 's.pl', PERL_FORKS)],
                {'PERL_HASH_SEED': '1', 'PERL_PERTURB_KEYS': '0'}, at_least=1000)


def git_env(room):
    return {'GIT_CONFIG_NOSYSTEM': '1', 'GIT_CONFIG_GLOBAL': '/dev/null', 'HOME': room.folder, 'GIT_PAGER': 'cat',
            'GIT_AUTHOR_NAME': 'a', 'GIT_AUTHOR_EMAIL': 'a@example.org', 'GIT_COMMITTER_NAME': 'a',
            'GIT_COMMITTER_EMAIL': 'a@example.org', 'GIT_AUTHOR_DATE': '2020-01-01T00:00:00Z',
            'GIT_COMMITTER_DATE': '2020-01-01T00:00:00Z'}


def git_repository(room):
    git, env = kinds.need('git'), git_env(room)
    room.run([git, 'init', '-q', 'r'], env)
    for i in range(4):
        with open(room.path('r', 'file%d' % i), 'w') as file:
            file.write('line\n' * (i + 1))
        room.run([git, '-C', 'r', 'add', '.'], env)
        done = room.run([git, '-C', 'r', 'commit', '-q', '-m', 'commit %d' % i], env)
        if done.status:
            raise Failure('git commit: %s' % done.err.decode())
    return git, env


def git_log(room):
    git, env = git_repository(room)
    return same(room, [git, '-C', 'r', 'log', '-p', '--stat'], env, at_least=200)


def git_clone(room):
    git, env = git_repository(room)
    script = '"$0" clone -q --no-local r c && "$0" -C c log --format=%H && rm -rf c'
    return same(room, ['/bin/sh', '-c', script, git], env, at_least=500)


def sqlite(room):
    database = room.path('d.db')

    def dump():
        done = room.run([kinds.need('sqlite3'), database, '.dump']).out
        os.unlink(database)
        return done
    return same(room, [kinds.need('sqlite3'), database], data=SQL.encode(), at_least=500, files=1, after=dump)


def gcc_compile(room):
    gcc = kinds.need(builds.CC[0])
    source = write(room, 's.c', C_SOURCE)

    def objects():
        with open(room.path('s.o'), 'rb') as file:
            data = file.read()
        os.unlink(room.path('s.o'))
        return data
    return same(room, [gcc, '-O1', '-c', source, '-o', room.path('s.o')], at_least=1000, after=objects)


def parallel_make(room):
    make = kinds.need('make')
    write(room, 'Makefile', 'all: a.o b.o c.o\n%.o: %.c\n\t@cc=`cat $< | wc -c`; echo $$cc > $@\n'
                            'clean:\n\t@rm -f *.o\n')
    for name in 'abc':
        write(room, name + '.c', 'x' * 100)
    return same(room, [make, '-s', '-j2', 'all', 'clean'], at_least=100)


# ---- A project in C: a library of ten sources, a program, a test ----

PROJECT_MAKEFILE = '''
CFLAGS = -O0 -Wall -Werror -Iinclude
OBJECTS = $(patsubst %%.c,%%.o,$(wildcard lib/*.c))
all: check
main.o $(OBJECTS): include/project.h
%%.o: %%.c
\t@$(CC) $(CFLAGS) -c -o $@ $<
libproject.a: $(OBJECTS)
\t@rm -f $@ && $(AR) rcD $@ $(OBJECTS)
program: main.o libproject.a
\t@$(CC) -o $@ main.o -L. -lproject
check: program
\t@./program 7 > output && cat output && ! ./program > /dev/null
clean:
\t@rm -f *.o lib/*.o libproject.a program output
'''

PROJECT_MODULE = '''
#include "project.h"
struct item%(n)d { struct item%(n)d *next; char text[%(n)d + 8]; };
static struct item%(n)d *add(struct item%(n)d *list, const char *text)
{
	struct item%(n)d *item = malloc(sizeof(*item));
	if (!item)
		abort();
	strncpy(item->text, text, sizeof(item->text) - 1);
	item->text[sizeof(item->text) - 1] = 0;
	item->next = list;
	return item;
}
int module%(n)d(int argument)
{
	struct item%(n)d *list = NULL;
	int sum = 0;
	for (int i = 0; i < argument; i++)
		list = add(list, "some text that is cut");
	while (list) {
		struct item%(n)d *next = list->next;
		sum += (int)strlen(list->text) * %(n)d;
		free(list);
		list = next;
	}
	return %(call)s;
}
'''
# This header replaces the system headers, whose thousands of lines would be most of the traced work.
PROJECT_HEADER = '''#define NULL ((void *)0)
void *malloc(unsigned long);
void free(void *);
void abort(void);
unsigned long strlen(const char *);
char *strncpy(char *, const char *, unsigned long);
int printf(const char *, ...);
int atoi(const char *);
'''
MODULES = 5


def write_project(room):
    for folder in ('include', 'lib'):
        os.makedirs(room.path(folder))
    write(room, 'Makefile', PROJECT_MAKEFILE.replace('%%', '%'))
    write(room, 'include/project.h', '#ifndef PROJECT_H\n#define PROJECT_H\n%s%s#endif\n' % (PROJECT_HEADER, ''.join(
        'int module%d(int argument);\n' % n for n in range(MODULES))))
    for n in range(MODULES):
        call = 'sum + module%d(argument)' % (n + 1) if n + 1 < MODULES else 'sum'
        write(room, 'lib/module%d.c' % n, PROJECT_MODULE % {'n': n, 'call': call})
    write(room, 'main.c', '#include "project.h"\n'
          'int main(int argc, char **argv)\n{\n\tif (argc != 2)\n\t\treturn 1;\n'
          '\tprintf("sum %d\\n", module0(atoi(argv[1])));\n\treturn 0;\n}\n')


def make_project(room):
    """Traces a build with two jobs, including make, sh, gcc, cc1, as, collect2, ld, ar and the built program: the files
    must be the same as without functrace."""
    make = kinds.need('make')
    kinds.need('ar')
    write_project(room)

    def built():
        files = {}
        names = ['libproject.a', 'program', 'main.o', 'output'] + ['lib/module%d.o' % n for n in range(MODULES)]
        for name in names:
            with open(room.path(name), 'rb') as file:
                files[name] = file.read()
        room.run([make, 'clean'])
        return files
    return same(room, [make, '-s', '-j2', 'CC=' + ' '.join(builds.CC)], at_least=20000, after=built)


def shell_pipelines(room):
    script = 'for i in 1 2 3; do seq $i 40 | sort -r | head -n 3 | tr "\\n" " "; done; echo; ' \
             'x=$(echo a b c | (read a b; echo $b | sed s/b/d/)); echo "$x"; ' \
             'kill -0 $$ && (exit 5) || echo "status $?"; exec sh -c "exit 6"'
    return same(room, [kinds.shell(), '-c', script], at_least=20)


def bash_pipelines(room):
    script = 'set -o pipefail; f() { local i; for ((i = 0; i < 50; i++)); do a[i]=$((i * i)); done; }; f; ' \
             'echo ${a[@]} | rev | cut -c1-20; cat <(echo sub) | wc -c; sleep 0.05 & wait $!; false | true; exit $?'
    return same(room, [kinds.need('bash'), '-c', script], at_least=100)


def busybox(room):
    box = kinds.need('busybox')
    problems, remark = same(room, [box, 'sh', '-c', 'echo x; ls / | wc -l; exit 2'], at_least=0)
    return problems, remark + ' (stripped and static: nothing can be found)'


# ---- Attach, trace and detach, again and again ----

def has_call(folder):
    """Returns true if a text trace in the folder has a call. functrace writes what it has at least once a second."""
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), 'rb') as file:
            if b'\n1. ' in file.read():
                return True
    return False


def come_and_go(room, pid, times, pause=0.15, files=1, by=(), until_call=False):
    """until_call: in each round functrace detaches only after it has traced a call."""
    problems, events = [], 0
    tasks = tasks_of(pid)
    first = text_of(pid)
    for i in range(times):
        folder = room.path('round%d' % i)
        tracer = Tracer(room, pid, output=folder, by=by)
        tracer.planted()
        time.sleep(pause)
        if until_call:
            wait_for('a call in the trace', lambda folder=folder: has_call(folder))
        problems += ['round %d: %s' % (i + 1, p) for p in tracer.let_go()]
        traces, more = kinds.read_traces(folder, files)
        problems += more
        events += sum(len(t.events) for t in traces)
        gone = set(tasks) - set(tasks_of(pid))
        if gone:
            problems.append('round %d: tasks lost: %s' % (i + 1, gone))
        if problems:
            break
    problems += ['compared with before the first round: ' + p for p in text_differences(first, text_of(pid))]
    return problems, events


def redis(room):
    server_path, bench = kinds.need('redis-server'), kinds.need('redis-benchmark')
    reason = may_attach()
    if reason:
        raise builds.Skip(reason)
    # Not a port: another program might take it before the server does.
    path = room.path('socket')
    server = room.start([server_path, '--port', '0', '--unixsocket', path, '--save', '', '--appendonly', 'no',
                         '--dir', room.folder], stdout=subprocess.DEVNULL)

    def listening():
        if server.poll() is not None:
            raise Failure('redis-server ended with status %d' % server.returncode)
        with socket.socket(socket.AF_UNIX) as s:
            return s.connect_ex(path) == 0
    wait_for('redis-server to listen', listening)
    load = room.start([bench, '-s', path, '-t', 'set,get,lpush,lrange_100', '-l', '-c', '8', '-r', '1000', '-d', '100',
                       '-q', '-n', '2000'], stdout=subprocess.DEVNULL)
    problems, events = come_and_go(room, server.pid, rounds(20))
    if load.poll() is not None:
        problems.append('redis-benchmark ended with status %d: %s' % (load.returncode, load.stderr.read()))
    room.kill(load)
    done = room.run([bench, '-s', path, '-t', 'set,get', '-q', '-n', '5000'])
    if done.status or b'rror' in done.out + done.err:
        problems.append('redis-benchmark afterwards: status %d, %r' % (done.status, (done.out + done.err)[-300:]))
    server.send_signal(signal.SIGTERM)
    ended = room.finish(server)
    if ended.status:
        problems.append('redis-server ended with status %d' % ended.status)
    if events < 50 * rounds(20):
        problems.append('only %d events in %d rounds' % (events, rounds(20)))
    return problems, '%d rounds, %d events' % (rounds(20), events)


def storm(room, command, files, by=()):
    reason = may_attach()
    if reason:
        raise builds.Skip(reason)
    gate, count = Gate(), 20 if LONG else 1
    child = room.start(command, gate.env, pass_fds=gate.fds)
    gate.started()
    try:
        gate.arrived(child)
        problems, events = come_and_go(room, child.pid, count, files=files, by=by)
        gate.open()
        ended = room.finish(child)
        if ended.status or ended.out not in (b'wrong 0\n', b'wrong 0, seen outside of the text 0\n'):
            problems.append('the target ended with status %d and said %r' % (ended.status, ended.out))
        return problems, '%d rounds, %d events' % (count, events)
    finally:
        gate.close()


def signal_storm(room):
    return storm(room, [builds.target('sigstorm', 'O2'), '8', '0', '500'], 1)


def fork_storm(room):
    return storm(room, [builds.target('forkstorm', 'O2'), '4'], None)


def big_forks(room):
    return storm(room, [builds.target('regress_bigfork', 'O2')], None)


def vforks(room):
    return storm(room, [builds.target('regress_vforkstorm', 'O2')], None)


def vforks_refused(room):
    return storm(room, [builds.target('regress_vforkstorm', 'O2')], None, [builds.target('nopwrite', 'O2')])


CASES = [
    ('python3 script with threads', python_script),
    ('python3: live blocks at the end, by postproc and by the logger', python_logged),
    ('examples/leak: live blocks at the end, by postproc and by the logger', example_logged('leak')),
    ('examples/leak_cpp: live blocks at the end, by postproc and by the logger', example_logged('leak_cpp')),
    ('python3 multiprocessing', python_multiprocessing),
    ('python3 multiprocessing and threading', python_threads_and_processes),
    ('perl script', perl_script),
    ('perl threads and forks', perl_threads_and_forks),
    ('git log', git_log),
    ('git clone of a local repository', git_clone),
    ('sqlite3 fills a database', sqlite),
    ('gcc compiles a file', gcc_compile),
    ('make -j2', parallel_make),
    ('make -j2 of a library and a program in C', make_project),
    ('sh pipelines', shell_pipelines),
    ('bash pipelines', bash_pipelines),
    ('busybox, static and stripped', busybox),
    ('redis-server under load, attached to again and again', redis),
    ('4 threads that fork all the time, attached to again and again', fork_storm),
    ('slow forks, attached to again and again', big_forks),
    ('vforks, attached to again and again', vforks),
    ('vforks, attached to again and again, writes refused', vforks_refused),
    ('8 threads, 500 signals a second, siglongjmp, attached to again and again', signal_storm),
]
