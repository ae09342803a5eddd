#!/usr/bin/env python3
"""Measures functrace-postproc: text output, the report, the exports, and conversions between formats.

    postproc.py FUNCTRACE-POSTPROC MAKE-TRACE [--events=N] [--rounds=N] [--trace=FILE]... [--against=PROGRAM]

The inputs are a trace of N events made by MAKE-TRACE (default 1,000,000 events: 500 stacks of 10 frames, 20,000 blocks
live at the end, about 97 MB), and each FILE. All output goes to files in a new folder under TMPDIR, which is removed at
the end. Each round runs every row of a table once. The columns are: the processor time (user and system) of the whole
run, as the median of the rounds; the largest memory; the speed relative to the table's first row, in events, and in
bytes read and written. --against runs another post-processor (sp-rtrace-postproc), too, with the options that both have
and the trace as the value of -i."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

FORMATS = ('mpatrol', 'stacktrack', 'swap')
EXPORTS = ('collapsed', 'speedscope', 'callgrind', 'chrome', 'massif', 'heaptrack', 'pprof', 'gperftools', 'dhat', 'xml',
           'json', 'rows')


def median(values):
    return sorted(values)[len(values) // 2]


def size_of(path):
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names) \
        if os.path.isdir(path) else os.path.getsize(path)


class Row:
    def __init__(self, label, command, source, out):
        self.label, self.command, self.source, self.out = label, command, source, out
        self.seconds, self.memory, self.bytes, self.failure = [], 0, 0, None

    def run(self):
        if self.failure:
            return
        with open(self.out, 'wb') as out, tempfile.TemporaryFile() as messages:
            child = subprocess.Popen(self.command, stdout=out, stderr=messages, stdin=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            messages.seek(0)
            said = messages.read().decode(errors='replace').strip()
        if child.returncode:
            self.failure = said.split('\n')[-1] or 'status %d' % child.returncode
        self.seconds.append(usage.ru_utime + usage.ru_stime)
        self.memory = max(self.memory, usage.ru_maxrss)
        self.bytes = size_of(self.source) + size_of(self.out)
        os.unlink(self.out)


def table(head, rows, rounds):
    """Measures and prints the rows. The speeds are relative to the first row."""
    for _ in range(rounds):
        for row in rows:
            row.run()
    print('\n%-30s %9s %9s %14s %14s' % (head, 'cpu', 'memory', 'by events', 'by bytes'))
    base = rows[0]
    for row in rows:
        if row.failure:
            print('%-30s %s' % (row.label, row.failure))
            continue
        seconds = median(row.seconds)
        print('%-30s %7.3f s %6.1f MB %14.2f %14.2f' % (
            row.label, seconds, row.memory / 1024, median(base.seconds) / seconds,
            row.bytes / seconds / (base.bytes / median(base.seconds))))


def measure(postproc, trace, folder, rounds, against):
    out = os.path.join(folder, 'out')
    texts = [Row(' '.join(o.split('=')[0] for o in options) or 'text',
                 [postproc, '-q', *options, trace], trace, out)
             for options in (['-l'], ['-l', '-c'], ['-c'], ['--stats'], [], ['--report'], ['--html=%s.html' % out])]
    texts += [Row('-f ' + name, [postproc, '-q', '-f', name, trace], trace, out) for name in EXPORTS]
    if against:
        texts += [Row('%s %s' % (os.path.basename(against), ' '.join(options)), [against, *options, '-i', trace],
                      trace, out) for options in (['-l'], ['-l', '-c'], ['-c'])]
    table('relative to -l', texts, rounds)
    conversions = [Row('rtrace to rtrace', [postproc, '-q', '-f', 'rtrace', trace], trace, out)]
    for name in FORMATS:
        conversions.append(Row('rtrace to ' + name, [postproc, '-q', '-f', name, trace], trace, out))
        converted = os.path.join(folder, 'converted.' + name)
        subprocess.run([postproc, '-q', '-f', name, '-o', converted, trace], check=True)
        conversions.append(Row(name + ' to rtrace', [postproc, '-q', '-f', 'rtrace', converted], converted, out))
    table('relative to rtrace to rtrace', conversions, rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('postproc')
    parser.add_argument('make_trace')
    parser.add_argument('--events', type=int, default=1000000)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--trace', action='append', default=[])
    parser.add_argument('--against')
    asked = parser.parse_args()
    folder = tempfile.mkdtemp(prefix='functrace-bench-')
    try:
        made = os.path.join(folder, 'made.rtrace')
        with open(made, 'wb') as out:
            subprocess.run([asked.make_trace, '--compat', str(asked.events)], stdout=out, check=True)
        for trace in [made] + asked.trace:
            print('\n%s: %.1f MB' % (os.path.basename(trace), os.path.getsize(trace) / 1e6))
            measure(asked.postproc, trace, folder, asked.rounds, asked.against)
    finally:
        shutil.rmtree(folder)


if __name__ == '__main__':
    sys.exit(main())
