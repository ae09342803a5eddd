"""Clients for servers: they send requests and check each answer, while a test observes the server."""

import collections
import http.client
import itertools
import re
import signal
import socket
import subprocess
import threading
import time

import builds
import server_programs
from processes import Failure, wait_for
from rounds import LONG
from server_programs import need, numbers, redis_of_libc

CLIENTS = 4


# Seconds between a client's requests. In `make check` a server is not kept busy all the time.
BETWEEN = 0 if LONG else 0.004


class Clients:
    """Threads that send requests until they are stopped. make(number) returns a function that sends one request, and
    raises Failure if the answer is wrong. `right` counts the right answers."""

    def __init__(self, make, count=CLIENTS):
        self.right, self.problems, self.is_ending = 0, [], threading.Event()
        self.asked, self.waits = [time.monotonic()] * count, collections.deque(maxlen=100000)
        self.threads = [threading.Thread(target=self.work, args=(make, number)) for number in range(count)]
        for thread in self.threads:
            thread.start()

    def work(self, make, number):
        try:
            ask = make(number)
            while not self.is_ending.wait(BETWEEN):
                self.asked[number] = time.monotonic()
                ask()
                self.waits.append((self.asked[number], time.monotonic()))
                self.right += 1
        except (Failure, OSError, http.client.HTTPException, subprocess.SubprocessError) as error:
            self.problems.append('client %d: %r' % (number, error))

    def more(self, what, count=20):
        """Waits for that many more right answers; fails if they do not come."""
        goal = self.right + count
        try:
            wait_for('', lambda: self.problems or self.right >= goal)
        except Failure:
            raise Failure('%s: %d of %d answers came' % (what, self.right - goal + count, count))
        if self.problems:
            raise Failure('%s: %s' % (what, self.problems[0]))

    def longest(self, since):
        """Returns the longest wait for an answer since that time (time.monotonic()), in seconds, including an answer
        that has not come yet."""
        now, waits = time.monotonic(), list(self.waits)
        return max([end - max(begin, since) for begin, end in waits if end > since] +
                   [now - max(begin, since) for begin in self.asked])

    def end(self):
        self.is_ending.set()
        for thread in self.threads:
            thread.join()
        return self.problems


# ---- Servers that answer numbers, over HTTP ----

def asked_by_http(server):
    def client(number):
        connection = http.client.HTTPConnection('127.0.0.1', server.address, timeout=120)
        turn = itertools.count(number)

        def ask():
            n = next(turn) * 7 % 1000
            connection.request('GET', '/%d' % n)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200 or body != numbers(n):
                raise Failure('/%d: %d %r' % (n, answer.status, body[:200]))
        return ask
    server.clients = Clients(client)
    return server


def python(room):
    return asked_by_http(server_programs.python(room))


def node(room):
    return asked_by_http(server_programs.node(room))


def java(room):
    return asked_by_http(server_programs.java(room))


def nginx(room):
    return asked_by_http(server_programs.Nginx(room))


# ---- Redis ----

def redis(room, program):
    server = server_programs.Redis(room, program)

    def client(number):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(server.address)
        connection.settimeout(120)
        stream, turn = connection.makefile('rb'), itertools.count()
        counted = 0

        def say(*words):
            connection.sendall(b'*%d\r\n' % len(words) + b''.join(b'$%d\r\n%s\r\n' % (len(word), word) for word in words))
            line = stream.readline()
            return stream.read(int(line[1:]) + 2)[:-2] if line[:1] == b'$' else line.strip()

        def ask():
            nonlocal counted
            n = next(turn)
            key, value = b'%d:%d' % (number, n % 700), b'%d,' % n * (n % 90 + 1)
            said = [say(b'SET', key, value), say(b'INCR', b'count:%d' % number), say(b'GET', key),
                    say(b'HSET', b'hash:%d' % number, b'%d' % (n % 3000), value), say(b'HGET', b'hash:%d' % number, b'%d' % (n % 3000))]
            counted += 1
            if n % 5000 == 4999:
                say(b'BGSAVE')
            if said[:3] != [b'+OK', b':%d' % counted, value] or said[3] not in (b':0', b':1') or said[4] != value:
                raise Failure('%d: %r' % (n, said))
        return ask
    server.clients = Clients(client)
    return server


def installed_redis(room):
    program = need('redis-server', 'redis-server')
    libraries = subprocess.run(['ldd', program], capture_output=True, text=True, timeout=60).stdout
    if 'jemalloc' not in libraries:
        raise builds.Skip('redis-server has no jemalloc here')
    return redis(room, program)


def built_redis(room):
    return redis(room, redis_of_libc())


# ---- PostgreSQL ----

SUMS = '''select (select sum(abalance) from pgbench_accounts) = (select sum(delta) from pgbench_history)
and (select sum(tbalance) from pgbench_tellers) = (select sum(delta) from pgbench_history)
and (select sum(bbalance) from pgbench_branches) = (select sum(delta) from pgbench_history), count(*) from pgbench_history'''


class Postgres(server_programs.Postgres):
    """A PostgreSQL server whose tables must have the right sums at the end."""

    def __init__(self, room):
        super().__init__(room)
        self.clients = Clients(lambda _number: self.transactions, 1)

    def transactions(self):
        said = self.bench('-n', '-c', str(CLIENTS), '-j', '2', '-t', '1000')
        if not re.search(r'number of transactions actually processed: %d/%d\n' % (CLIENTS * 1000, CLIENTS * 1000), said) or \
           'number of failed transactions: 0 ' not in said:
            raise Failure('pgbench says: ' + said[-500:])

    def end(self, number=signal.SIGINT, statuses=(0,)):
        problems = self.clients.end()
        sums, count = self.run_one('psql', '-h', self.folder, '-U', 'postgres', '-Atc', SUMS, 'bench').strip().split('|')
        if sums != 't' or int(count) != self.clients.right * CLIENTS * 1000:
            problems.append('the tables do not add up: %s, %s of %d runs' % (sums, count, self.clients.right))
        return problems + super().end(number, statuses)
