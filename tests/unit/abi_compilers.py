#!/usr/bin/env python3
"""Compares how other compilers, 32-bit and C++ ones among them, pass arguments and results of generated functions
(tests/generate/signatures.py) with arch/abi.h. Prints TAP.

usage: abi_compilers.py [SEED [COUNT]]

If RUN is in the environment, it is a command that runs the programs.
"""

import errno
import functools
import os
import shutil
import subprocess
import sys
import tempfile

SRC = os.environ.get('TOP_SRCDIR', os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
BUILD = os.environ.get('TOP_BUILDDIR', os.getcwd())
OBJECTS = tempfile.TemporaryDirectory(prefix='functrace-abi-')
sys.path.append(os.path.join(SRC, 'tests', 'scenarios'))

from rounds import LONG

CC, CXX = os.environ.get('CC', 'gcc').split(), os.environ.get('CXX', 'g++').split()
# for programs that define this: the C files below arch/ that they need
RULES = {'__x86_64__': ('x86/abi_x86_64', 'x86/abi_x86'), '__i386__': ('x86/abi_i386', 'x86/abi_x86'),
         '__aarch64__': ('aarch64/abi_aarch64',), '__arm__': ('arm/abi_arm',)}
FLAGS = ['-I' + folder for folder in (BUILD, os.path.join(SRC, 'src'), SRC, os.path.join(SRC, 'tests', 'unit'))] + ['-w', '-fno-strict-aliasing']
THIRTY_TWO = ['-m32', '-idirafter', '/usr/include/x86_64-linux-gnu']


def run(command, text=None):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=300)


def variants():
    """Yields the name, the C compiler, the compiler under test with its flags, and whether that is for C++."""
    yield 'C++', CC, CXX + ['-O1'], True
    yield 'C without optimisation', CC, CC + ['-O0'], False
    for clang, flag, is_cxx in ('clang', '-O2', False), ('clang++', '-O1', True):
        # A compiler for this machine, not the cross compiler of a build for another one.
        if shutil.which(clang) and rules([clang]) == rules(CC):
            yield 'clang, C++' if is_cxx else 'clang', CC, [clang, flag], is_cxx
    if run(CC + ['-dM', '-E', '-'], '').stdout.find('__x86_64__') > 0:
        yield '32 bits', CC + THIRTY_TWO, CC + THIRTY_TWO + ['-O2'], False
        yield '32 bits, C++', CC + THIRTY_TWO, CXX + THIRTY_TWO + ['-O0'], True


def lacks(folder, command, cxx):
    """Returns the reason why programs of the compiler cannot run here, or None. Not every 64-bit kernel runs 32-bit
    programs."""
    program = os.path.join(folder, 'empty')
    done = run(command + ['-x', 'c++' if cxx else 'c', '-o', program, '-'], '#include <stdio.h>\nint main(void) { return 0; }\n')
    if done.returncode:
        return '%s cannot link' % ' '.join(command)
    try:
        run(os.environ.get('RUN', '').split() + [program])
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        return 'the kernel runs no programs that %s makes' % ' '.join(command)
    return None


def rules(command):
    macros = run(command + ['-dM', '-E', '-'], '').stdout
    return next(names for macro, names in RULES.items() if '#define %s 1' % macro in macros)


@functools.lru_cache(maxsize=None)
def supported(compiler):
    """Builds the objects of functrace's part, once for each compiler. Returns them, and the compiler's messages if it
    failed, else ''."""
    objects, folder = [], tempfile.mkdtemp(dir=OBJECTS.name)
    for name in ('tests/unit/abi_real.c', 'arch/abi.c') + tuple('arch/%s.c' % name for name in rules(list(compiler))):
        objects.append(os.path.join(folder, os.path.basename(name)[:-2] + '.o'))
        done = run([*compiler, '-std=gnu11', '-O1', '-g'] + FLAGS + ['-c', os.path.join(SRC, name), '-o', objects[-1]])
        if done.returncode:
            return objects, done.stdout[:2000] or 'it does not compile'
    return objects, ''


def check(folder, support, command, cxx, seed, count):
    """Returns the problems, and the program's output."""
    made = os.path.join(folder, 'made.' + ('cpp' if cxx else 'c'))
    generator = [sys.executable, os.path.join(SRC, 'tests', 'generate', 'signatures.py'), seed, str(count)] + ['--cxx'] * cxx
    with open(made, 'w') as file:
        subprocess.run(generator, stdout=file, check=True)
    objects, said = supported(tuple(support))
    if said:
        return [said], ''
    program = os.path.join(folder, 'program')
    done = run(command + FLAGS + [made] + objects + ['-lm', '-o', program])
    if done.returncode:
        return [done.stdout[:2000]], ''
    done = run(os.environ.get('RUN', '').split() + [program])
    lines = done.stdout.split('\n')
    last = next((line for line in lines if line.startswith(('ok', 'not ok'))), 'it ended with status %d' % done.returncode)
    return ([] if done.returncode == 0 and last.startswith('ok') else [line[2:] for line in lines if line.startswith('# ')] + [last]), last


def main():
    seed, count = (sys.argv[1:] + ['1', '80' if LONG else '40'][len(sys.argv) - 1:])[:2]
    number = 0
    for number, (name, support, command, cxx) in enumerate(variants(), 1):
        with tempfile.TemporaryDirectory(prefix='functrace-abi-') as folder:
            reason = lacks(folder, command, cxx)
            if reason:
                print('ok %d - %s # SKIP %s' % (number, name, reason))
                continue
            problems, said = check(folder, support, command, cxx, seed, int(count))
        print('%s %d - %s: arguments and results are at their places' % ('not ok' if problems else 'ok', number, name))
        for line in (problems or [said.split(' - ')[1]])[:20]:
            print('# ' + line.replace('\n', '\n# '))
    print('1..%d' % number)


if __name__ == '__main__':
    main()
