#!/usr/bin/env python3
"""Checks that the installed programs have all protections against exploits that the compiler and the linker offer.
Because configure's results may be wrong, the test builds a sample by the same compiler with all flags that the compiler
accepts; the programs must have the protections of the sample. Prints TAP."""

import os
import re
import shlex
import subprocess
import sys
import tempfile

BUILD = os.environ.get('TOP_BUILDDIR', '.')
PROGRAMS = ('functrace', 'functrace-postproc', 'functrace-probes')
OBJECT = 'src/base/own_file.o'
FLAGS = ('-fstack-protector-strong', '-fcf-protection', '-mbranch-protection=standard', '-Wl,-z,relro,-z,now', '-fPIE -pie')
FORTIFY = '-D_FORTIFY_SOURCE=2'
SAMPLE = """#include <stdio.h>
#include <string.h>
int main(int count, char **words)
{
	char text[16];

	strcpy(text, words[count - 1]);
	return puts(text);
}
"""


def variables():
    with open(os.path.join(BUILD, 'Makefile'), encoding='utf-8') as file:
        found = dict(re.findall(r'^((?:SAN_C|C|CPP|LD)FLAGS|CC) = *(.*)$', file.read(), re.M))
    return {name: shlex.split(value) for name, value in found.items()}


def is_disabled():
    done = subprocess.run(['./config.status', '--config'], cwd=BUILD, stdout=subprocess.PIPE, check=True)
    options = shlex.split(done.stdout.decode())
    return any(re.match(r'--(disable-hardening|enable-hardening=no)$', option) for option in options)


class Sample:
    """A small program and its object file, compiled with the flags of the build."""

    def __init__(self, folder, of):
        self.folder, self.of = folder, of
        with open(os.path.join(folder, 'sample.c'), 'w', encoding='utf-8') as file:
            file.write(SAMPLE)

    def make(self, *flags):
        """Returns true if the compiler accepts the flags."""
        words = [word for flag in flags for word in flag.split()]
        command = self.of['CC'] + self.of['CPPFLAGS'] + self.of['CFLAGS'] + self.of['SAN_CFLAGS'] + words
        # Without a link step clang warns about flags of the linker.
        return self.run(command + ['-Werror'] + self.of['LDFLAGS'] + ['-o', 'sample', 'sample.c']) and \
            self.run(command + ['-c', '-o', 'sample.o', 'sample.c'])

    def run(self, command):
        try:
            return subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, check=False).returncode == 0
        except OSError:
            return False


def readelf(option, path):
    return subprocess.run(['readelf', '-W', option, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                          env=dict(os.environ, LC_ALL='C')).stdout.decode(errors='replace')


def strengths(path, has_fortify):
    """Returns the protections of a program. Fortified functions are not required if the build has reasons not to
    fortify."""
    dynamic, symbols, segments, header = (readelf(option, path) for option in ('-d', '--dyn-syms', '-l', '-h'))
    found = {
        'BIND_NOW': re.search(r'BIND_NOW|Flags:.*\bNOW\b', dynamic),
        'RELRO': 'GNU_RELRO' in segments,
        'has a stack protector': '__stack_chk_fail' in symbols,
        'has fortified functions': has_fortify and re.search(r'_chk(@| |$)', symbols.replace('__stack_chk', ''), re.M),
        'is position-independent (PIE)': re.search(r'Type: +DYN', header),
        'has a stack that is not executable': not re.search(r'GNU_STACK.* RWE ', segments),
    }
    return {name for name, is_there in found.items() if is_there}


def strengths_of_object(path):
    """Returns the marks of landing pads in an object. The linker drops them from a program if the system's own objects
    have none."""
    return set(re.findall(r'\b(?:IBT|SHSTK|BTI|PAC)\b', readelf('-n', path)))


def main():
    of = dict({'CC': [], 'CPPFLAGS': [], 'CFLAGS': [], 'LDFLAGS': [], 'SAN_CFLAGS': []}, **variables())
    if is_disabled():
        print('1..0 # SKIP configured with --disable-hardening')
        return 0
    with tempfile.TemporaryDirectory() as folder:
        sample = Sample(folder, of)
        if not sample.make():
            print('1..0 # SKIP the compiler that built this makes no program now: ' + ' '.join(of['CC']))
            return 0
        # Builds with sanitizers are not fortified, because the sanitizers have checks of their own.
        taken = []
        for flag in FLAGS + (() if of['SAN_CFLAGS'] else (FORTIFY,)):
            taken += [flag] if sample.make(*taken, flag) else []
        sample.make(*taken)
        path = os.path.join(folder, 'sample')
        wanted, wanted_object = strengths(path, not of['SAN_CFLAGS']), strengths_of_object(path + '.o')
    cases = [(name, wanted, strengths(os.path.join(BUILD, name), True)) for name in PROGRAMS
             if os.path.exists(os.path.join(BUILD, name))]  # functrace-probes needs libbpf
    cases.append((OBJECT, wanted_object, strengths_of_object(os.path.join(BUILD, OBJECT))))
    failed = 0
    for number, (name, needed, found) in enumerate(cases, 1):
        missing = sorted(needed - found)
        failed += bool(missing)
        reason = '' if needed else ' # SKIP the compiler has none of it'
        print('%s %d - %s: %s%s' % ('not ok' if missing else 'ok', number, name, ', '.join(sorted(needed)), reason))
        for problem in missing:
            print('# without ' + problem)
    print('1..%d' % len(cases))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
