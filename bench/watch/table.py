#!/usr/bin/env python3
"""Records programs under load, and shows how good a watch of them would be, as the table in doc/WATCH.md:

    BUILD=$PWD ../bench/watch/table.py FOLDER [SECONDS [PROGRAM...]]

Traces that are in FOLDER already are not recorded again. Each program is recorded for SECONDS (90 by default)."""
import glob
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get('BUILD', '.')
FUNCTRACE = os.path.join(BUILD, 'functrace')
PROGRAMS = os.path.join(HERE, 'programs')
PORT = 7921
SHARES = 0.05, 0.1
QUIET = {'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}


class Missing(Exception):
    """A program is not installed."""


def need(name, *folders):
    found = shutil.which(name, path=os.pathsep.join([*folders, os.environ['PATH']]))
    if not found:
        raise Missing(name)
    return found


def record(trace, command, seconds, env=None):
    options = ['-q', '-e', 'memory', '-o', trace]
    subprocess.run([FUNCTRACE, *options, *command], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, **(env or {})}, timeout=seconds * 10 + 60)


def record_process(trace, pid, seconds):
    subprocess.run([FUNCTRACE, '-q', '-e', 'memory', '-o', trace, '-t', str(pid), '--duration=%ds' % seconds], check=True,
                   **QUIET)


def end(*processes):
    for process in processes:
        process.kill()
        process.wait()


def server(folder, trace, seconds, libraries=()):
    program = os.path.splitext(trace)[0]
    source = os.path.join(PROGRAMS, 'server.cpp')
    subprocess.run(['g++', '-O1', '-g', '-o', program, source, '-Wl,--no-as-needed', *libraries], check=True, cwd=folder)
    record(trace, [program, str(seconds), '2000'], seconds)


def jemalloc_server(folder, trace, seconds):
    server(folder, trace, seconds, ['-l:libjemalloc.so.2'])


def perl(_, trace, seconds):
    record(trace, ['perl', os.path.join(PROGRAMS, 'requests.pl'), str(seconds)], seconds)


def python(_, trace, seconds):
    record(trace, ['/usr/bin/python3', os.path.join(PROGRAMS, 'worker.py'), str(seconds)], seconds, {'PYTHONMALLOC': 'malloc'})


def sqlite(_, trace, seconds):
    record(trace, ['/usr/bin/python3', os.path.join(PROGRAMS, 'database.py'), str(seconds)], seconds)


def node(_, trace, seconds):
    record(trace, [need('node'), os.path.join(PROGRAMS, 'worker.js'), str(seconds)], seconds)


def redis(_, trace, seconds):
    child = subprocess.Popen([need('redis-server'), '--port', str(PORT), '--bind', '127.0.0.1', '--save', ''], **QUIET)
    time.sleep(1)
    loads = [['-c', '4', '-r', '3000', '-d', '60', '-t', 'set,get,incr'],
             ['-c', '1', '-r', '300', 'lpush', 'list:__rand_int__', 'an-element-of-a-list-that-grows'],
             ['-c', '1', '-r', '100000000', 'hset', 'table:__rand_int__', 'field', 'value'],
             ['-c', '1', '-r', '3000', 'setex', 'brief:__rand_int__', '10', 'a-value-that-ends-after-ten-seconds']]
    clients = [subprocess.Popen(['redis-benchmark', '-p', str(PORT), '-q', '-l', '-n', '500', *load], **QUIET)
               for load in loads]
    try:
        record_process(trace, child.pid, seconds)
    finally:
        end(*clients, child)


def postgres(folder, trace, seconds):
    """Records the backend of one client, which makes transactions, and prepares statements that it never deallocates."""
    folders = sorted(glob.glob('/usr/lib/postgresql/*/bin'))[-1:]
    by = []
    data = os.path.join(os.path.abspath(folder), 'database')
    os.makedirs(data)
    if os.geteuid() == 0:  # postgres refuses to run as root
        by = [need('setpriv'), '--reuid=postgres', '--regid=postgres', '--clear-groups']
        shutil.chown(data, 'postgres', 'postgres')
    to = ['-h', data, '-U', 'postgres']
    with open(os.path.join(PROGRAMS, 'prepare.sql')) as source, open(os.path.join(data, 'prepare.sql'), 'w') as copy:
        copy.write(source.read())
    os.chmod(copy.name, 0o644)
    subprocess.run([*by, need('initdb', *folders), '-N', '-A', 'trust', '-U', 'postgres', '-D', data + '/data'], check=True,
                   cwd='/', **QUIET)
    running = [subprocess.Popen([*by, need('postgres', *folders), '-D', data + '/data', '-k', data, '-c', 'listen_addresses=',
                                 '-c', 'fsync=off'], cwd='/', **QUIET)]
    try:
        time.sleep(3)
        psql = [need('psql', *folders), *to, '-A', '-t', '-c']
        subprocess.run([*psql, 'create database bench'], check=True, **QUIET)
        pgbench = [need('pgbench', *folders), *to]
        subprocess.run([*pgbench, '-i', '-q', 'bench'], check=True, **QUIET)
        running.insert(0, subprocess.Popen([*pgbench, '-c', '1', '-n', '-T', str(seconds + 30), '-b', 'tpcb-like@20',
                                            '-b', 'select-only@20', '-f', copy.name + '@1', 'bench'], **QUIET))
        time.sleep(2)
        pid = subprocess.check_output([*psql, "select pid from pg_stat_activity where application_name = 'pgbench'"], text=True)
        record_process(trace, int(pid), seconds)
    finally:
        end(running[0])
        running[-1].terminate()
        running[-1].wait()
        shutil.rmtree(data)


# how a program is recorded, and what is special in the simulation
MAKERS = {'server': (server, 'lost=136'), 'server on jemalloc': (jemalloc_server, 'lost=136 jemalloc=1'),
          'redis': (redis, 'jemalloc=1'), 'perl': (perl, ''), 'python3': (python, 'lost=136'), 'sqlite3': (sqlite, 'lost=136'),
          'node': (node, ''), 'postgres': (postgres, '')}
COLUMNS = 'program', 'share', 'windows', 'stacks', 'median', 'sum', 'covered', 'recall', 'of all', 'growing found', 'covered', \
    'false', 'lost'


def simulate(trace, *options):
    """Returns the mean of each figure over the seeds."""
    shown = subprocess.Popen([os.path.join(BUILD, 'functrace-postproc'), trace], stdout=subprocess.PIPE)
    done = subprocess.run([os.path.join(BUILD, 'bench', 'watch', 'simulate'), 'seeds=5', 'same=0.8', 'window=0.1', *options],
                          stdin=shown.stdout, stdout=subprocess.PIPE, text=True)
    shown.stdout.close()
    shown.wait()
    rows = [dict(word.split('=') for word in line.split()) for line in done.stdout.splitlines() if '=' in line]
    return {name: sum(float(row[name]) for row in rows) / len(rows) for name in (rows[0] if rows else ())}


def cells_of(name, share, row):
    return (name, '%g' % share, '%.0f' % row['windows'], '%.0f' % row['resolved'], '%.2f' % row['median'], '%.2f' % row['sum'],
            '%.2f' % row['covered'], '%.2f' % row['recall'], '%.2f' % row['recall_all'],
            '%.1f of %.0f' % (row['found'], row['growing']), '%.2f' % row['growth_covered'],
            '%.1f of %.0f' % (row['false'], row['sound']), '%.2f' % row['lost'] if row['lost'] else '')


def show(cells):
    print('| %s |' % ' | '.join(cells), flush=True)


def main():
    folder = sys.argv[1]
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 90
    os.makedirs(folder, exist_ok=True)
    show(COLUMNS)
    show(['---'] * len(COLUMNS))
    for name, (make, options) in MAKERS.items():
        trace = os.path.join(folder, name.replace(' ', '-') + '.rtrace')
        if len(sys.argv) > 3 and name not in sys.argv[3:]:
            continue
        try:
            if not os.path.exists(trace):
                make(folder, trace, seconds)
        except Missing as missing:
            print('%s: %s is not installed' % (name, missing))
            continue
        for share in SHARES:
            row = simulate(trace, 'share=%g' % share, *options.split())
            if row:
                show(cells_of(name, share, row))
            else:
                print('%s: the trace is too short' % name)


main()
