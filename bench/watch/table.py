#!/usr/bin/env python3
"""Records five programs under load, and shows how good a watch of them would be, as in doc/WATCH.md:

    BUILD=$PWD ../bench/watch/table.py FOLDER [SECONDS]

Traces that are in FOLDER already are not recorded again. Each program is recorded for SECONDS (90 by default)."""
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get('BUILD', '.')
FUNCTRACE = os.path.join(BUILD, 'functrace')
PORT = 7921
CASES = 'share=0.05 window=0.1', 'share=0.1 window=0.1'


def record(trace, command, seconds, env=None):
    options = ['-q', '-e', 'memory', '-o', trace]
    subprocess.run([FUNCTRACE, *options, *command], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, **(env or {})}, timeout=seconds * 10 + 60)


def server(folder, trace, seconds):
    program = os.path.join(folder, 'server')
    subprocess.run(['g++', '-O1', '-g', '-o', program, os.path.join(HERE, 'programs', 'server.cpp')], check=True)
    record(trace, [program, str(seconds), '2000'], seconds)


def perl(_, trace, seconds):
    record(trace, ['perl', os.path.join(HERE, 'programs', 'requests.pl'), str(seconds)], seconds)


def python(_, trace, seconds):
    record(trace, ['/usr/bin/python3', os.path.join(HERE, 'programs', 'worker.py'), str(seconds)], seconds,
           {'PYTHONMALLOC': 'malloc'})


def sqlite(_, trace, seconds):
    record(trace, ['/usr/bin/python3', os.path.join(HERE, 'programs', 'database.py'), str(seconds)], seconds)


def redis(_, trace, seconds):
    child = subprocess.Popen(['redis-server', '--port', str(PORT), '--bind', '127.0.0.1', '--save', ''],
                             stdout=subprocess.DEVNULL)
    time.sleep(1)
    loads = [['-c', '4', '-r', '3000', '-d', '60', '-t', 'set,get,incr'],
             ['-c', '1', '-r', '300', 'lpush', 'list:__rand_int__', 'an-element-of-a-list-that-grows'],
             ['-c', '1', '-r', '100000000', 'hset', 'table:__rand_int__', 'field', 'value'],
             ['-c', '1', '-r', '3000', 'setex', 'brief:__rand_int__', '10', 'a-value-that-ends-after-ten-seconds']]
    clients = [subprocess.Popen(['redis-benchmark', '-p', str(PORT), '-q', '-l', '-n', '500', *load],
                                stdout=subprocess.DEVNULL) for load in loads]
    try:
        subprocess.run([FUNCTRACE, '-q', '-e', 'memory', '-o', trace, '-t', str(child.pid), '--duration=%ds' % seconds],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    finally:
        for process in (*clients, child):
            process.kill()
            process.wait()


PROGRAMS = (('server', server, 136), ('redis', redis, 0), ('perl', perl, 0), ('python3', python, 136),
            ('sqlite3', sqlite, 136))


COLUMNS = 'windows', 'resolved', 'median', 'sum', 'covered', 'recall', 'growing', 'found', 'sound', 'false', 'lost', 'rank'


def simulate(trace, lost, case):
    """Returns the mean of each figure over the seeds."""
    shown = subprocess.Popen([os.path.join(BUILD, 'functrace-postproc'), trace], stdout=subprocess.PIPE)
    done = subprocess.run([os.path.join(BUILD, 'bench', 'watch', 'simulate'), 'seeds=5', 'same=0.8', 'lost=%d' % lost,
                           *case.split()], stdin=shown.stdout, stdout=subprocess.PIPE, text=True)
    shown.stdout.close()
    shown.wait()
    rows = [dict(word.split('=') for word in line.split()) for line in done.stdout.splitlines() if '=' in line]
    return {name: sum(float(row[name]) for row in rows) / len(rows) for name in COLUMNS} if rows else {}


def main():
    folder = sys.argv[1]
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 90
    os.makedirs(folder, exist_ok=True)
    print('%-31s %s' % ('', ' '.join('%8s' % column for column in COLUMNS)))
    for name, make, lost in PROGRAMS:
        trace = os.path.join(folder, name + '.rtrace')
        if not os.path.exists(trace):
            if name == 'redis' and not shutil.which('redis-server'):
                print('redis: not installed')
                continue
            make(folder, trace, seconds)
        for case in CASES:
            row = simulate(trace, lost, case)
            print('%-8s %-22s %s' % (name, case, ' '.join('%8.2f' % row[column] for column in COLUMNS) if row else
                                     'the trace is too short'), flush=True)


main()
