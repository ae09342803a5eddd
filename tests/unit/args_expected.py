#!/usr/bin/env python3
"""Checks that the programs of tests/scenarios/known.py call every function of every module. They print what -a must
show of each call. Functions that no program calls are listed here, with the reason; a listed function that a program
calls is an error."""

import os
import re
import subprocess
import sys

TOP_SRCDIR = os.environ.get('TOP_SRCDIR', os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
PROGRAMS = ('args_calls.c', 'args_more.c', 'args_rows.c', 'args_cxx.cpp', 'kind_gobject.c', 'kind_qobject.cpp')
LINKED_BY_NONE = 'a name for its C library alone, which no program can link with'
TIME64 = 'what the headers make of the name without 64 in args_rows.c, built as m32-time64'
MUSL = 'what musl calls it where a program has 32 bits; args_rows.c is for glibc'
EXCEPTIONS = {
    '__open_nocancel': LINKED_BY_NONE, '__open64_nocancel': LINKED_BY_NONE, '__close_nocancel': LINKED_BY_NONE,
    '__opendirat': LINKED_BY_NONE,
    '__recvmmsg64': TIME64, '__pthread_timedjoin_np64': TIME64, '__pthread_clockjoin_np64': TIME64, '__shmctl64': TIME64,
    '__recvmmsg_time64': MUSL, '__pthread_timedjoin_np_time64': MUSL, '__shmctl_time64': MUSL,
    'cfree': 'glibc has had none since 2.26', 'free_sized': 'of C23: glibc 2.36 has none',
    'free_aligned_sized': 'of C23: glibc 2.36 has none',
    'g_type_register_dynamic': 'shows no arguments: only what it registers is watched'}


def names(listing):
    """The symbols of each module's table, demangled if they are C++ names. The pattern *malloc is for the row of
    malloc."""
    done = subprocess.run([listing], stdout=subprocess.PIPE, check=True)
    symbols = sorted(set(done.stdout.decode().split()))
    shown = subprocess.run(['c++filt'] + symbols, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    return {symbol: name for symbol, name in zip(symbols, shown) if not symbol.startswith('*')}


def is_called(symbol, name, programs):
    if name.startswith('operator '):
        # args_cxx.cpp has the compiler's size_t as a macro, and overloads for unsigned int only if that is size_t.
        words = re.sub(r'unsigned (long|int)', '" SIZE_T "', name[len('operator '):])
        return '"%s"' % words in programs
    if name.startswith('QObject::'):
        return 'QObject' in programs
    # FN() is used for functions that are called by a pointer; kind_gobject.c looks its functions up by name.
    return re.search(r'(?<![\w"-])%s\(|FN\(%s\)|LOAD\(\w+, "%s"\)' % ((symbol,) * 3), programs) is not None


def main():
    programs = ''
    for program in PROGRAMS:
        with open(os.path.join(TOP_SRCDIR, 'tests', 'targets', program)) as file:
            programs += file.read()
    problems, found = [], names(sys.argv[1] if len(sys.argv) > 1 else 'tests/unit/module_names')
    for symbol, name in found.items():
        if is_called(symbol, name, programs) == (symbol in EXCEPTIONS):
            problems.append('%s: %s' % (name, 'is called, but listed as an exception' if symbol in EXCEPTIONS else
                                        'no program of known.py calls it; see tests/targets/args_rows.c'))
    problems += ['%s: no module has it' % symbol for symbol in EXCEPTIONS if symbol not in found]
    print('\n'.join(problems) or 'all %d functions, but for %d' % (len(found), len(EXCEPTIONS)))
    return 1 if problems or not found else 0


sys.exit(main())
