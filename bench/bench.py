"""Measures the costs of functrace, and compares them with the floor (the least that a tracer by ptrace needs) and with
other tools.

    bench.py [--quick] [--section=NAME]... [--rounds=N]
    bench.py --section=servers        the waits of clients of redis, nginx, postgres and others, in about five minutes
    bench.py --section=probes         probes in the kernel, breakpoints, untraced runs and heaptrack, in about five minutes

The environment variable BUILD names the build folder (default: the current one). Each round measures every row once,
on the same processors. A figure is the median over the rounds, and a ratio is the median of the rounds' ratios. "wall"
is the time that the target measures; "cpu" is the processor time of target and tracer together, which depends less on
other load of the machine."""

import argparse
import os
import sys

import attached
import forking
import placement
import probes
import report
import rows
import scan
import servers
import sizes
from programs import Failure, Room, median

PAIRS = 1000  # number of pairs in a round of functrace
BUSY = 0.7    # above this load, processor time is more accurate than wall time


class Bench:
    def __init__(self, room, quick, rounds):
        self.room, self.quick = room, quick
        self.chosen, self.rounds = rounds, rounds or (3 if quick else 11)
        self.cpu = max(os.sched_getaffinity(0))
        self.bars = report.Bars()
        self.busy = report.load() > BUSY

    def once(self, row, cpu, name, options):
        options = dict(options)
        threads = options.get('threads', 1)
        options['pairs'] = max(20, int(PAIRS * row.scale / threads))
        options.setdefault('rounds', 3)
        command = row.command(self.room, name, **options)
        return self.room.run(command, cpu)

    def table(self, cases, cpu, base=0):
        """Measures and prints the rows of a table. cases: a list of (label, row, name of the target, options). base:
        index of the case to which the ratios refer. Returns {label: (wall ns, wall ratio, cpu ns, cpu ratio)}."""
        samples = {label: [] for label, _, _, _ in cases}
        for _ in range(self.rounds):
            for label, row, name, options in cases:
                if not row.missing:
                    samples[label].append(self.once(row, cpu, name, options))
        reference = samples[cases[base][0]]
        report.head('(base: %s)' % cases[base][0])
        result = {}
        for label, row, _, _ in cases:
            if row.missing:
                report.missing(label, row.missing)
                continue
            mine = samples[label]
            result[label] = (median([s.wall for s in mine]),
                             median([s.wall / r.wall for s, r in zip(mine, reference)]),
                             median([s.cpu for s in mine]),
                             median([s.cpu / r.cpu for s, r in zip(mine, reference)]))
            report.line(label, *result[label])
        return result

    def counted(self, figures, what=1):
        """Returns the number in a row of table() that is compared with a bar: the ratio, or, if `what` is 0, the
        time."""
        return figures[what + 2] if self.busy else figures[what]

    # ---- Sections ----

    def main(self):
        for words, cpu, ltrace_bar in (('one processor', self.cpu, 4), ('unpinned', None, 3)):
            report.title('malloc+free, one thread, 17 frames; %s' %
                         ('target and tracer pinned to one processor' if cpu is not None else 'unpinned'))
            cases = [(row.name, row, 'malloc', {'frames': 17}) for row in rows.MAIN]
            found = self.table(cases, cpu, 1)
            for row, bar, what in ((rows.B0, 1.0, 'no stacks'), (rows.B16, 1.15, '16 frames')):
                ratio = self.counted(found[row.name])
                self.bars.add('a pair, %s, x three bare stops, %s' % (what, words), bar, ratio, '%.2f' % ratio)
            if rows.LTRACE.missing:
                self.bars.add('times faster than ltrace, %s' % words, ltrace_bar, None, 'no ltrace', False)
            else:
                factor = self.counted(found[rows.LTRACE.name], 0) / self.counted(found[rows.B16.name], 0)
                self.bars.add('times faster than ltrace, %s' % words, ltrace_bar, factor, '%.2f' % factor, False)

    def threads(self):
        # functrace pins no program with several threads to one CPU, so one thread is measured without pinning, too.
        counts = (1, 4) if self.quick else (1, 4, 16)
        for words, cpu in (('one processor', self.cpu), ('unpinned', None)):
            report.title('malloc+free in several threads, wall time over all pairs; %s' % words)
            for row in (rows.FLOOR, rows.FREE, rows.LTRACE):
                cases = [('1 thread: ' + row.name.split(':')[0] if n == 1 else '%d threads' % n, row, 'malloc', {'threads': n})
                         for n in counts]
                found = self.table(cases, cpu)
                if row is rows.FREE:
                    ratio = self.counted(found['4 threads'])
                    self.bars.add('4 threads x one thread, %s' % words, 1.3, ratio, '%.2f' % ratio)

    def idle(self):
        for words, cpu in (('one processor', self.cpu), ('unpinned', None)):
            report.title('malloc+free, one busy thread and 1000 sleeping threads; %s' % words)
            for row in (rows.FLOOR, rows.FREE):
                cases = [('1 thread: ' + row.name.split(':')[0] if n == 0 else '1 + %d threads' % n, row, 'malloc', {'idle': n})
                         for n in (0, 1000)]
                found = self.table(cases, cpu)
            ratio = self.counted(found['1 + 1000 threads'])
            self.bars.add('1000 idle tasks and 1 hot x 1 task, %s' % words, 1.3, ratio, '%.2f' % ratio)

    def frames(self):
        report.title('malloc+free under stacks of 6, 17 and 47 frames; one processor')
        cases = [('functrace -b 0', rows.B0, 'malloc', {'frames': 17})]
        cases += [('functrace -b 64, %d frames' % n, rows.B64, 'malloc', {'frames': n}) for n in (6, 17, 47)]
        self.table(cases, self.cpu)

    def unwind(self):
        report.title('Reading and walking one stack whose unwind rows are known, us')
        for n in (8, 17, 47):
            found = attached.unwinding(self.room, n, self.cpu)
            print('%2d frames, %4.0f bytes: %5.2f by rows (%.2f of it for reading), %5.2f by libunwind' % (
                n, found['bytes'], found['rows'], found['read'], found['libunwind']))
            if n == 17:
                self.bars.add('us to read and walk 17 frames, rows known', 2.5, found['rows'],
                              '%.2f' % found['rows'])

    def kinds(self):
        for name, words in (('realloc', 'realloc, two stops'), ('new', 'C++ new and delete, four stops'),
                            ('throw', 'a caught exception, four stops')):
            report.title('%s; one processor' % words)
            cases = [(row.name, row, name, {'frames': 17})
                     for row in (rows.NATIVE, rows.B0, rows.B16, rows.LTRACE)]
            try:
                self.table(cases, self.cpu, 1)
            except (Failure, OSError) as error:
                report.missing(name, str(error))

    def modules(self):
        report.title('open+close, three stops if traced; one processor')
        cases = [(row.name, row, 'file', {}) for row in (rows.NATIVE, rows.OTHER, rows.FILE, rows.LTRACE)]
        ratio = self.counted(self.table(cases, self.cpu)[rows.OTHER.name])
        self.bars.add('a function of an unselected module x native', 1.05, ratio, '%.3f' % ratio)

    def args(self):
        for name, words, chosen in (('malloc', 'malloc+free, registers only', (rows.B0, rows.B0_ARGS, rows.LTRACE)),
                                    ('file', 'open+close, a string', (rows.FILE_B0, rows.FILE_ARGS, rows.LTRACE, rows.STRACE))):
            report.title('Arguments (-a): %s; one processor' % words)
            found = self.table([(row.name, row, name, {}) for row in chosen], self.cpu)
            ratio = self.counted(found[chosen[1].name])
            self.bars.add('-a x without, %s' % words, 1.3, ratio, '%.2f' % ratio)

    def placement(self):
        report.title('Whole runs of real programs with --cpu=pin, --cpu=auto (the default) and --cpu=free')
        for program in placement.PROGRAMS:
            found = placement.measured(self.room, program, 3 if self.quick else self.rounds)
            if isinstance(found, str):
                report.missing(program.name, found)
                continue
            for name, (usual, fastest) in found.items():
                print('%-10s --cpu=%-5s median %6.3f s, x pinned %5.2f; fastest %6.3f s, x pinned %5.2f' % (
                    program.name, name, usual, usual / found['pin'][0], fastest, fastest / found['pin'][1]), flush=True)
            # The fastest runs are compared, because no processor time is measured here that could be used on a busy
            # machine.
            ratio = found['auto'][1] / found['pin'][1]
            self.bars.add('%s by default x pinned, fastest runs' % program.name, 1.15, ratio, '%.2f' % ratio)

    def syscalls(self):
        report.title('System calls of the tracer per pair, counted by strace')
        for name, options in (('malloc', ['-b', '0']), ('malloc', ['-b', '16']), ('malloc', ['-b', '16', '-A']),
                              ('malloc', ['-b', '0', '-a']), ('file', ['-e', 'file', '-b', '0']),
                              ('file', ['-e', 'file', '-b', '0', '-a'])):
            try:
                found = attached.syscalls(self.room, options, name)
            except Failure as error:
                report.missing(' '.join(options), str(error))
                continue
            print('functrace %-18s %5.2f: %s' % (' '.join(options), sum(n for _, n in found),
                                                ', '.join('%s %.2f' % item for item in found)))

    def memory(self):
        events = [10 ** 5, 10 ** 6] + ([] if self.quick else [10 ** 7])
        report.title('Memory of the tracer by number of traced events, KiB')
        found = attached.memory(self.room, events, self.cpu)
        for count, now, most in found:
            print('%9d events: VmRSS %6d, VmHWM %6d' % (count, now, most))
        growth = found[-1][1] - found[0][1]
        self.bars.add('KiB of growth of the tracer, 10^5 to 10^%d events' % len(str(events[-1] - 1)), 64, growth,
                      '%d' % growth)

    def attach(self):
        report.title('Attaching to 64 threads and 200 objects, medians, in us if no unit is given')
        found = attached.crowd(self.room, 3 if self.quick else 9)
        print('first event after %.3f s; detached after %.3f s' % (found['first'], found['letting go']))
        print('%-28s %14s %28s %8s' % ('largest gap in the target', 'all', 'without waits for processor', 'worst'))
        for when in ('untraced', 'attach', 'traced', 'detach'):
            print('%-28s %14.0f %28.0f %8.0f' % (when, found[when][0], found[when][1], found[when + ' worst']))
        beyond = max(found[when][1] for when in ('attach', 'detach')) - found['untraced'][1]
        self.bars.add('seconds to the first event', 1, found['first'], '%.3f' % found['first'])
        self.bars.add('us by which a gap exceeds the largest untraced one', 1000, beyond, '%.0f' % beyond)

    def paused(self):
        report.title('One process untraced and paused in turn, ns of processor time per pair')
        before, after, ratio = attached.paused(self.room, 5 if self.quick else 15, self.cpu)
        print('untraced %.2f, paused %.2f: x %.4f' % (before, after, ratio))
        self.bars.add('paused x native', 1.02, ratio, '%.4f' % ratio)


    def forks(self):
        rounds = 3 if self.quick else max(self.rounds, 9)
        for name, words, count in (('fork', 'A fork without calls in the child, and the wait for the child', 300),
                                   ('spawn', 'vfork, the execution of /bin/true, and the wait for its end', 100)):
            report.title(words + '; unpinned')
            ratios = forking.show(forking.children(self.room, name, rounds, count))
            for label in ('functrace', 'functrace -F'):
                if name == 'fork' and label in ratios and forking.BASE in ratios:
                    ratio = ratios[label][1] if self.busy else ratios[label][0]
                    self.bars.add('%s: %s x strace -f -e trace=none' % (name, label), 1, ratio, '%.2f' % ratio)
        objects = attached.copies(self.room, 200)
        for calls in (0, 25):
            report.title('A server with 200 objects that forks for each connection; its children make %d pairs of calls' % calls)
            forking.show(forking.server(self.room, objects, calls, 3 if self.quick else 5, 100))
        report.title('make -j2 of 4 files, time per file')
        forking.show(forking.build(self.room, 4, 1 if self.quick else 3))

    def sizes(self):
        report.title('Bytes per event of a trace, and events per second, plain and compressed; unpinned')
        for name, found in sizes.show(self.room, 1 if self.quick else 3, 2 if self.quick else 5).items():
            self.bars.add('%s: bytes per event, -z' % name, 8, found, '%.2f' % found)

    def scan(self):
        report.title('Leak checks of a heap: pause of the program, duration, memory of the checker; unpinned')
        print('(Debian has no package of chap or a similar tool. Such a tool would first need the core file.)')
        for size, (each, ratio) in scan.show(self.room, [10, 100] if self.quick else [10, 100, 1000],
                                             3 if self.quick else max(3, self.rounds // 2)).items():
            if size >= 100:
                self.bars.add('%d MiB: a scan\'s pause x one copy' % size, 1.5, ratio, '%.2f (%.2f ms per MiB)' % (ratio, each))

    def servers(self):
        report.title('Waits of clients of a server, compared with the pauses that functrace reports, ms; unpinned')
        for name, what, ratio, why in servers.show(self.room, self.chosen or (2 if self.quick else 5)):
            self.bars.add('%s, %s: wait x reported' % (name, what), servers.BAR, ratio, why or '%.2f' % ratio)

    def probes(self):
        probes.show(self.room, self.bars, self.chosen or (2 if self.quick else 5), self.quick)


QUICK = ['main', 'placement', 'threads', 'idle', 'syscalls']
FULL = ['main', 'placement', 'threads', 'idle', 'frames', 'unwind', 'kinds', 'modules', 'args', 'syscalls', 'forks', 'attach', 'paused', 'memory', 'sizes',
        'scan', 'servers', 'probes']


def main():
    parser = argparse.ArgumentParser(description='measures functrace', allow_abbrev=False)
    parser.add_argument('--quick', action='store_true', help='measure only the main rows, in about a minute')
    parser.add_argument('--section', action='append', choices=FULL, help='measure only this section; can be repeated')
    parser.add_argument('--rounds', type=int, default=0)
    args = parser.parse_args()
    print('functrace bench: ' + report.machine())
    if report.load() > BUSY:
        print('Other programs are running, so the bars are for processor time. Measure again on a quiet machine.')
    with Room() as room:
        bench = Bench(room, args.quick, args.rounds)
        for row in rows.PEERS:
            row.check(room)
        for name in args.section or (QUICK if args.quick else FULL):
            try:
                getattr(bench, name)()
            except (Failure, OSError) as error:
                report.missing(name, str(error))
        bench.bars.show()


if __name__ == '__main__':
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
