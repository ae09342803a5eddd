"""Four threads that answer made-up requests for SECONDS: worker.py SECONDS. Run it with PYTHONMALLOC=malloc. One request in
a hundred loses 136 bytes of malloc, and one in twenty adds to a table that grows for ever. The rest is sound: a cache of
the last 2,000 answers, and a queue of results that is emptied each second."""
import collections
import ctypes
import json
import sys
import threading
import time

SECONDS = float(sys.argv[1])
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
cache = collections.OrderedDict()
results = []
users = {}
lock = threading.Lock()


def forget():
    libc.malloc(136)


def remember(number):
    users['user %d' % number] = ('name', number, 'kept for ever')


def answer(number):
    request = json.loads('{"key": "key %d", "words": ["a", "few", "words of %d"]}' % (number % 5000, number))
    text = json.dumps({'answer': request['words'] * 3, 'number': number})
    with lock:
        cache[request['key']] = text
        cache.move_to_end(request['key'])
        if len(cache) > 2000:
            cache.popitem(last=False)
        results.append(text[:40] + str(number))


def work(first, end):
    number = first
    while time.monotonic() < end:
        answer(number)
        if number // 4 % 100 == 0:
            forget()
        if number // 4 % 20 == 0:
            remember(number)
        number += 4
        time.sleep(0.001)


def main():
    end = time.monotonic() + SECONDS
    threads = [threading.Thread(target=work, args=(first, end)) for first in range(4)]
    for thread in threads:
        thread.start()
    while time.monotonic() < end:
        time.sleep(1)
        with lock:
            results.clear()
    for thread in threads:
        thread.join()
    print(len(users))


main()
