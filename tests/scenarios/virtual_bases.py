"""Tests -a with C++ objects that have virtual bases, whose place is in each object's vtable: functrace must show for
each call what the program itself reads (tests/targets/virtual_bases.cpp)."""

import os
import re

import builds
from outputs import equal
from processes import FUNCTRACE

FUNCTIONS = ('by_*', 'given_back', 'to_*', 'Both::Both', 'Both::sum')
CALL = re.compile(r'\d+\. (?:\[[\d:.]+\] )?([\w:]+)[<(]')
ARGUMENT = re.compile(r'\t\$\d+ = (.*)')
# Parameters that the compiler adds to the constructor of a base object.
HIDDEN = ('__vtt_parm=', 'vtt=')


def shown(path, functions):
    """Returns the lines of each call of these functions, in order, in the form in which the program prints them."""
    lines, current = [], None
    with open(path) as file:
        for line in file:
            call, argument = CALL.match(line), ARGUMENT.match(line)
            if call:
                current = call.group(1)
            elif argument and current in functions and not argument.group(1).startswith(HIDDEN):
                lines.append('%s\t%s' % (current, argument.group(1)))
    return lines


def compiled(command, flags):
    return builds.compiled('virtual_bases-' + '-'.join([command[0]] + flags), command + ['-g', '-w'] + flags, ['virtual_bases.cpp'])


def case(command, flags):
    def run(room):
        program = compiled(command, flags)
        done = room.run([FUNCTRACE, '-a', '-f', 'text', '-b', '0', '-o', room.path('trace')] +
                        [word for name in FUNCTIONS for word in ('-x', name)] + [program])
        wanted = done.out.decode().split('\n')[:-1]
        found = shown(room.path('trace'), {line.split('\t')[0] for line in wanted} - {'Both::Both'})
        made = [line for line in shown(room.path('trace'), {'Both::Both'})]
        problems = equal('status', done.status, 0)
        problems += equal('arguments', [line for line in found if not is_unused(line)],
                          [line for line in wanted if not line.startswith('Both::Both\t')])
        # The trace has more constructors: of static objects, and of objects that are passed by value.
        constructed = [line for line in wanted if line.startswith('Both::Both\t')]
        problems += equal('missing constructors', [line for line in constructed if line not in made], [])
        problems += equal('virtual bases of objects that are not constructed yet',
                          [line for line in made if '\tthis=' in line and 'Top=<unknown place>' not in line], [])
        return problems, '%d values' % len(wanted)
    return run


def is_unused(line):
    """Returns true for a result that the program does not print; the results of these functions are ints."""
    return line.startswith(('by_value\treturn=', 'Both::sum\treturn='))


# The names are the same for every command, because long.form has them.
COMPILERS = {'g++': builds.CXX, 'clang++': [os.environ.get('CLANGXX', 'clang++')]}
CASES = [('virtual bases [%s %s]' % (name, ' '.join(flags)), case(command, flags))
         for name, command in COMPILERS.items() for flags in (['-O0'], ['-O2'], ['-O0', '-m32'], ['-O2', '-m32'])]
