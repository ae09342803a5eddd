"""Prints the results, in at most 100 columns."""

import os
import platform


def load():
    with open('/proc/loadavg') as file:
        return float(file.read().split()[0])


def machine():
    model = 'unknown'
    with open('/proc/cpuinfo') as file:
        for line in file:
            if line.startswith(('model name', 'Model')):
                model = line.split(':', 1)[1].strip()
                break
    return '%s, %d processors, Linux %s, load %.1f' % (
        model, len(os.sched_getaffinity(0)), platform.release(), load())


def title(text):
    print('\n%s\n%s' % (text, '-' * min(len(text), 100)), flush=True)


def us(ns):
    value = ns / 1000
    return '%.3f' % value if value < 1 else '%.2f' % value if value < 100 else '%.0f' % value


def head(first):
    print('%-34s %10s %9s   %10s %9s' % (first[:34], 'wall us', 'x base', 'cpu us', 'x base'), flush=True)


def line(name, wall, wall_ratio, cpu, cpu_ratio):
    def times(value):
        return '%.2f' % value if value is not None and value < 100 else '%.0f' % value if value is not None else ''
    print('%-34s %10s %9s   %10s %9s' % (name, us(wall), times(wall_ratio), us(cpu), times(cpu_ratio)), flush=True)


def missing(name, why):
    print('%-34s %s' % (name, why[:65]), flush=True)


class Bars:
    """The table of bars: limits that the figures must keep."""

    def __init__(self):
        self.rows = []

    def add(self, what, bar, value, text, at_most=True):
        """Adds a row. value: the figure; None: it was not measured, and `text` says why. at_most: the bar is the
        largest allowed value, not the smallest."""
        reached = None if value is None else value <= bar if at_most else value >= bar
        self.rows.append((what, ('<= %g' if at_most else '>= %g') % bar, text, reached))

    def show(self):
        title('Limits')
        for what, bar, text, reached in self.rows:
            words = {None: 'not measured', True: 'reached', False: 'NOT REACHED'}[reached]
            print('%-50s %8s %22s  %s' % (what, bar, text, words))
