#!/usr/bin/env python3
"""Compiles src/uprobe/hot_calls.bpf.c again, and compares the object with the bytes of hot_calls.inc, which functrace is
built with. Another version of clang may compile other bytes, so the test needs the version that made the file. Prints
TAP."""

import os
import re
import shutil
import subprocess

SRC = os.environ.get('TOP_SRCDIR', os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
FOLDER = os.path.join(SRC, 'src', 'uprobe')
CLANG = 14  # the version that made hot_calls.inc


def tool(*names):
    """Returns the first of these commands that is installed, or None."""
    return next((name for name in names if shutil.which(name)), None)


def lacks(clang, strip):
    """Returns the reason why the program cannot be compiled to the same bytes here, or None."""
    if os.uname().machine != 'x86_64':
        return 'the program is for x86-64'
    if not clang:
        return 'clang is not installed'
    said = subprocess.run([clang, '--version'], stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
    version = re.search(r'version (\d+)', said)
    if not version or int(version.group(1)) != CLANG:
        return 'this is clang %s, and clang %d made the file' % (version.group(1) if version else '?', CLANG)
    return None if strip else 'llvm-strip is not installed'


def numbers(text):
    return bytes(int(word, 16) for word in re.findall(r'0x([0-9a-f]{2}),', text))


def difference(made, kept):
    """Describes the first difference between the object that was made now and the one in hot_calls.inc."""
    if made == kept:
        return None
    at = next((i for i, (one, other) in enumerate(zip(made, kept)) if one != other), min(len(made), len(kept)))
    return 'the objects have %d and %d bytes, and differ from byte %d on: embed.sh makes hot_calls.inc again' % (
        len(made), len(kept), at)


def main():
    clang, strip = tool('clang-%d' % CLANG, 'clang'), tool('llvm-strip-%d' % CLANG, 'llvm-strip')
    reason = lacks(clang, strip)
    print('1..2')
    with open(os.path.join(FOLDER, 'hot_calls.inc')) as file:
        kept = numbers(file.read())
    if reason:
        print('ok 1 - hot_calls.inc is the compiled hot_calls.bpf.c # SKIP ' + reason)
    else:
        done = subprocess.run(['sh', os.path.join(FOLDER, 'embed.sh'), FOLDER, clang, strip], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=300)
        made = numbers(done.stdout)
        problem = done.stderr if done.returncode or not made else difference(made, kept)
        print('%s 1 - hot_calls.inc is the compiled hot_calls.bpf.c' % ('not ok' if problem else 'ok'))
        if problem:
            print('# ' + problem.strip().replace('\n', '\n# '))
    changed = bytearray(kept)
    changed[len(changed) // 2] ^= 1
    found = difference(kept, bytes(changed)) and difference(kept, kept[:-1]) and not difference(kept, bytes(kept))
    print('%s 2 - a changed byte and a missing byte are found' % ('ok' if kept and found else 'not ok'))


if __name__ == '__main__':
    main()
