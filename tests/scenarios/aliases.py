"""Several names of one function: the trace has the one that each call is by."""

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
    """new and free are one address in tcmalloc, and a release by the wrong one is told all the same."""
    return layouts.misuse(room, TCMALLOC)


CASES = [('releases by another family, one function', families)]
BUILDS = [('misuse', 'O2')]  # by layouts.misuse()
