"""Real programs: they do the same traced and untraced, and their traces can be read."""

import os
import signal
import socket
import subprocess
import sys
import time

import builds
import kinds
from processes import Failure, Gate, Tracer, may_attach, tasks_of, text_differences, text_of, wait_for

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
    """Runs the command untraced and traced; `after` gives what else it left that must be the same."""
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


def python_multiprocessing(room):
    return same(room, [os.path.realpath(sys.executable), write(room, 's.py', PYTHON_POOL)],
                {'PYTHONHASHSEED': '1'}, at_least=100)


def perl_script(room):
    return same(room, [kinds.need('perl'), write(room, 's.pl', PERL_SCRIPT)],
                {'PERL_HASH_SEED': '1', 'PERL_PERTURB_KEYS': '0'}, at_least=500, files=1)


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


def shell_pipelines(room):
    script = 'for i in 1 2 3; do seq $i 40 | sort -r | head -n 3 | tr "\\n" " "; done; echo; ' \
             'x=$(echo a b c | (read a b; echo $b | sed s/b/d/)); echo "$x"; ' \
             'kill -0 $$ && (exit 5) || echo "status $?"; exec sh -c "exit 6"'
    return same(room, ['/bin/sh', '-c', script], at_least=20)


def bash_pipelines(room):
    script = 'set -o pipefail; f() { local i; for ((i = 0; i < 50; i++)); do a[i]=$((i * i)); done; }; f; ' \
             'echo ${a[@]} | rev | cut -c1-20; cat <(echo sub) | wc -c; sleep 0.05 & wait $!; false | true; exit $?'
    return same(room, [kinds.need('bash'), '-c', script], at_least=100)


def busybox(room):
    box = kinds.need('busybox')
    problems, remark = same(room, [box, 'sh', '-c', 'echo x; ls / | wc -l; exit 2'], at_least=0)
    return problems, remark + ' (stripped and static: nothing can be found)'


# ---- attach, trace, let go, twenty times ----

def come_and_go(room, pid, times, pause=0.15, files=1):
    problems, events = [], 0
    tasks = tasks_of(pid)
    first = text_of(pid)
    for i in range(times):
        folder = room.path('round%d' % i)
        tracer = Tracer(room, pid, output=folder)
        tracer.planted()
        time.sleep(pause)
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
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        port = s.getsockname()[1]
    server = room.start([server_path, '--port', str(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no',
                         '--dir', room.folder], stdout=subprocess.DEVNULL)

    def listening():
        if server.poll() is not None:
            raise Failure('redis-server ended with status %d' % server.returncode)
        with socket.socket() as s:
            return s.connect_ex(('127.0.0.1', port)) == 0
    wait_for('redis-server to listen', listening)
    load = room.start([bench, '-h', '127.0.0.1', '-p', str(port), '-t', 'set,get,lpush,lrange_100', '-l', '-c', '8',
                       '-r', '1000', '-d', '100', '-q', '-n', '2000'], stdout=subprocess.DEVNULL)
    problems, events = come_and_go(room, server.pid, 20)
    if load.poll() is not None:
        problems.append('redis-benchmark ended with status %d: %s' % (load.returncode, load.stderr.read()))
    room.kill(load)
    done = room.run([bench, '-h', '127.0.0.1', '-p', str(port), '-t', 'set,get', '-q', '-n', '5000'])
    if done.status or b'rror' in done.out + done.err:
        problems.append('redis-benchmark afterwards: status %d, %r' % (done.status, (done.out + done.err)[-300:]))
    server.send_signal(signal.SIGTERM)
    ended = room.finish(server)
    if ended.status:
        problems.append('redis-server ended with status %d' % ended.status)
    if events < 1000:
        problems.append('only %d events in 20 rounds' % events)
    return problems, '20 rounds, %d events' % events


def storm(room, command, files):
    reason = may_attach()
    if reason:
        raise builds.Skip(reason)
    gate = Gate()
    child = room.start(command, gate.env, pass_fds=gate.fds)
    gate.started()
    try:
        gate.arrived(child)
        problems, events = come_and_go(room, child.pid, 20, files=files)
        gate.open()
        ended = room.finish(child)
        if ended.status or ended.out not in (b'wrong 0\n', b'wrong 0, seen outside of the text 0\n'):
            problems.append('the target ended with status %d and said %r' % (ended.status, ended.out))
        return problems, '20 rounds, %d events' % events
    finally:
        gate.close()


def signal_storm(room):
    return storm(room, [builds.target('sigstorm', 'O2'), '8', '0', '500'], 1)


def fork_storm(room):
    return storm(room, [builds.target('forkstorm', 'O2'), '4'], None)


CASES = [
    ('python3 script with threads', python_script),
    ('python3 multiprocessing', python_multiprocessing),
    ('perl script', perl_script),
    ('git log', git_log),
    ('git clone of a local repository', git_clone),
    ('sqlite3 fills a database', sqlite),
    ('gcc compiles a file', gcc_compile),
    ('make -j2', parallel_make),
    ('sh pipelines', shell_pipelines),
    ('bash pipelines', bash_pipelines),
    ('busybox, static and stripped', busybox),
    ('redis-server under load, 20 times attached to', redis),
    ('4 threads that fork all the time, 20 times attached to', fork_storm),
    ('8 threads, 500 signals a second, siglongjmp, 20 times attached to', signal_storm),
]
