"""Tests functions with several names: the trace shows the name by which each call was made."""

import layouts
from kinds import Scenario

LAYOUTS = ('O0', 'O2', 'no-pie', 'static', 'static-pie', 'no-plt', 'z-now', 'z-lazy', 'cet', 'one-segment', 'gold', 'lld',
          'mold', 'clang', 'stripped', 'musl')
TCMALLOC = {'LD_PRELOAD': '{lib:libtcmalloc_minimal.so.4}'}
MIMALLOC = {'LD_PRELOAD': '{lib:libmimalloc.so.2.0}'}

SCENARIOS = [
    Scenario('aliases', variants=LAYOUTS),
    Scenario('aliases', variants=('O2', 'no-plt'), modes=('binary', 'nofollow'), label='aliases/file'),
    Scenario('aliases', ('{library:aliaslibrary}', '{library:aliaslibrary2}', 6), variants=('O2', 'no-plt'),
             label='aliases of libraries'),
    Scenario('aliases', ('{library:aliasfork}',), files=4, modes=('launch', 'attach', 'nofollow'), variants=('O2',),
             label='aliases in children'),
    Scenario('aliases', ('{library:aliasifunc}',), files=4, variants=('O2',), label='aliases of an IFUNC'),
    Scenario('oldfree', variants=('O0', 'O2', 'no-plt', 'z-now', 'lld')),
    Scenario('alloc_cpp', env=TCMALLOC, variants=('O0', 'O2', 'no-pie', 'no-plt', 'z-now', 'cet', 'lld', 'mold'),
             label='alloc_cpp/tcmalloc'),
    Scenario('alloc_cpp', env=MIMALLOC, variants=('O2', 'no-plt'), label='alloc_cpp/mimalloc'),
]


def families(room):
    """In tcmalloc several families of new and free are one address; functrace still reports a release by the wrong
    family."""
    return layouts.misuse(room, TCMALLOC)


CASES = [('releases by the wrong family of functions that share one address', families)]
BUILDS = [('misuse', 'O2')]  # by layouts.misuse()
