"""A database in memory that is asked and changed for SECONDS: database.py SECONDS. One round in ten loses 136 bytes of
malloc. A table of orders grows for ever; a table of sessions keeps its size."""
import ctypes
import random
import sqlite3
import sys
import time

SECONDS = float(sys.argv[1])
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]


def forget():
    libc.malloc(136)


def main():
    random.seed(3)
    database = sqlite3.connect(':memory:', isolation_level=None, cached_statements=20)
    database.execute('create table orders (id integer primary key, name text, amount integer)')
    database.execute('create table sessions (id integer primary key, state text)')
    end = time.monotonic() + SECONDS
    number = 0
    while time.monotonic() < end:
        number += 1
        if number % 10 == 0:
            forget()
            database.execute('insert into orders (name, amount) values (?, ?)', ('order %d' % number, number % 1000))
        key = random.randrange(3000)
        database.execute('insert or replace into sessions values (?, ?)', (key, 'x' * random.randrange(20, 400)))
        database.execute('select count(*), sum(length(state)) from sessions where id between %d and %d' %
                         (key, key + number % 20)).fetchall()
        time.sleep(0.001)
    print(database.execute('select count(*) from orders').fetchone()[0])


main()
