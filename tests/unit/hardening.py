#!/usr/bin/env python3
"""The programs that are installed are built with what makes mistakes harder to exploit, as far as the compiler and the
linker have it (configure: HARDEN_CFLAGS, HARDEN_LDFLAGS). Prints TAP."""

import os
import re
import subprocess
import sys

BUILD = os.environ.get('TOP_BUILDDIR', '.')


def flags():
    with open(os.path.join(BUILD, 'Makefile'), encoding='utf-8') as file:
        found = dict(re.findall(r'^(HARDEN_C?L?D?FLAGS|CC) = *(.*)$', file.read(), re.M))
    return found.get('HARDEN_CFLAGS', '').split(), found.get('HARDEN_LDFLAGS', '').split()


def readelf(option, name):
    return subprocess.run(['readelf', '-W', option, os.path.join(BUILD, name)], stdout=subprocess.PIPE, check=True,
                          env=dict(os.environ, LC_ALL='C')).stdout.decode(errors='replace')


def problems_of(name, compiler, linker):
    dynamic, symbols, segments, header = (readelf(option, name) for option in ('-d', '--dyn-syms', '-l', '-h'))
    if '-Wl,-z,relro,-z,now' in linker:
        if not re.search(r'BIND_NOW|Flags:.*\bNOW\b', dynamic):
            yield 'no BIND_NOW'
        if 'GNU_RELRO' not in segments:
            yield 'no RELRO'
    if '-fstack-protector-strong' in compiler and '__stack_chk_fail' not in symbols:
        yield 'no stack protector'
    if '-D_FORTIFY_SOURCE=2' in compiler and not re.search(r'_chk(@| |$)', symbols.replace('__stack_chk', ''), re.M):
        yield 'no fortified function'
    if not re.search(r'Type: +DYN', header):
        yield 'not position-independent'
    if re.search(r'GNU_STACK.* RWE ', segments):
        yield 'an executable stack'


def main():
    compiler, linker = flags()
    if not compiler and not linker:
        print('1..0 # SKIP configured with --disable-hardening, or the compiler has none of it')
        return 0
    failed = 0
    names = ('functrace', 'functrace-postproc')
    for number, name in enumerate(names, 1):
        problems = list(problems_of(name, compiler, linker))
        failed += bool(problems)
        print('%s %d - %s: %s' % ('not ok' if problems else 'ok', number, name, ' '.join(compiler + linker)))
        for problem in problems:
            print('# ' + problem)
    print('1..%d' % len(names))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
