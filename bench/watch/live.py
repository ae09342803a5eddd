#!/usr/bin/env python3
"""Measures what functrace --watch costs a redis server under full load, by turns with and without the watch.

usage: [FUNCTRACE=PATH] live.py [SECONDS [ROUNDS [OPTION ...]]]

Each round runs redis-benchmark for SECONDS without and with a watch that has run since the beginning of the round, and
prints the requests a second, the 99th percentile and the largest latency. At the end it prints the ratios, and the cost
that the watch has printed beside the one that was measured: the CPU time of functrace, and what the throughput lost.
"""
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

FUNCTRACE = os.environ.get('FUNCTRACE', 'functrace')


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def cpu_of(pid):
    """Returns the CPU time, in seconds, of a process and of all that descend from it."""
    times, children = {}, {}
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/stat' % name) as file:
                fields = file.read().rsplit(')', 1)[1].split()
        except OSError:
            continue
        times[int(name)] = int(fields[11]) + int(fields[12])
        children.setdefault(int(fields[1]), []).append(int(name))

    def sum_of(one):
        return times.get(one, 0) + sum(map(sum_of, children.get(one, [])))
    return sum_of(pid) / os.sysconf('SC_CLK_TCK')


def load(port, seconds, pipeline):
    """Returns (requests a second, 99th percentile and largest latency in ms)."""
    rate, p99, most = [], [], []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done = subprocess.run(['redis-benchmark', '-p', str(port), '-t', 'set', '-r', '100000', '-d', '100', '-n', '400000',
                               '-P', str(pipeline), '--csv'], capture_output=True, text=True).stdout
        row = done.strip().splitlines()[-1].replace('"', '').split(',')
        rate.append(float(row[1]))
        p99.append(float(row[6]))
        most.append(float(row[7]))
    return statistics.mean(rate), statistics.mean(p99), max(most)


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    options = sys.argv[3:]
    port = free_port()
    server = subprocess.Popen(['redis-server', '--port', str(port), '--save', '', '--bind', '127.0.0.1'],
                              stdout=subprocess.DEVNULL)
    time.sleep(1)
    plain, watched, costs = [], [], []
    try:
        for pipeline in (1, 16):
            load(port, 2, pipeline)
            for _ in range(rounds):
                plain.append((pipeline,) + load(port, seconds, pipeline))
                with tempfile.TemporaryDirectory() as folder:
                    began = time.monotonic()
                    watch = subprocess.Popen([FUNCTRACE, '--watch', '-t', str(server.pid), '-o', folder] + options,
                                             stderr=subprocess.DEVNULL)
                    time.sleep(1)
                    watched.append((pipeline,) + load(port, seconds, pipeline))
                    own = cpu_of(watch.pid) / (time.monotonic() - began)
                    watch.send_signal(signal.SIGINT)
                    watch.wait()
                    with open(os.path.join(folder, '%d.txt' % server.pid)) as file:
                        found = re.search(r'target ([\d.]+) %, functrace ([\d.]+) %', file.read())
                    costs.append((float(found.group(1)), float(found.group(2)), own * 100))
                print('pipeline %2d: without %s, with %s, cost target %.2f %%, functrace %.2f %% (measured %.2f %%)' % (
                    pipeline, '%.0f/s p99 %.2f max %.1f ms' % plain[-1][1:],
                    '%.0f/s p99 %.2f max %.1f ms' % watched[-1][1:], *costs[-1]), flush=True)
        for pipeline in (1, 16):
            pairs = [(a, b) for a, b in zip(plain, watched) if a[0] == pipeline]
            print('pipeline %2d: throughput %.3f of without, p99 %.2f times' % (
                pipeline, statistics.median(b[1] / a[1] for a, b in pairs),
                statistics.median(b[2] / a[2] for a, b in pairs)))
    finally:
        server.kill()
        server.wait()


if __name__ == '__main__':
    main()
