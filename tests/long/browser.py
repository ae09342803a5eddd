#!/usr/bin/env python3
"""Traces a browser, with its many processes and threads and its own allocator, from its start to its end: it must print
the same page, and the traces must be readable. Takes minutes."""

import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'scenarios'))

from processes import FUNCTRACE, POSTPROC, Failure, Room

PAGE = '''<!DOCTYPE html>
<html><head><title>page</title><style>p { color: green; } p:nth-child(2n) { font-weight: bold; }</style></head>
<body><h1>Words</h1><div id="here"></div>
<script>
const words = [];
for (let i = 0; i < 200; i++)
	words.push("word" + (i * 7919 % 1000));
words.sort();
for (const word of words) {
	const p = document.createElement("p");
	p.textContent = word;
	document.getElementById("here").appendChild(p);
}
document.title = words.length + " words";
</script></body></html>
'''
LEAST_EVENTS = 100000
TIMEOUT = float(os.environ.get('LONG_SECONDS', '3600'))


def command(browser, room, name):
    return [browser, '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
            '--disable-background-networking', '--disable-component-update', '--disable-sync',
            '--user-data-dir=' + room.path(name), '--dump-dom', 'file://' + room.path('page.html')]


def readable(path):
    """Returns problems, and the size of functrace-postproc's output for a trace in bytes."""
    process = subprocess.Popen([POSTPROC, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    size = 0
    while data := process.stdout.read(1 << 20):
        size += len(data)
    said = process.stderr.read().decode(errors='replace')
    if process.wait() or said:
        return ['functrace-postproc %s: status %d, %s' % (os.path.basename(path), process.returncode, said[-300:])], size
    return [], size


def trace(browser, room):
    env = {'HOME': room.folder, 'XDG_RUNTIME_DIR': room.folder}
    with open(room.path('page.html'), 'w') as file:
        file.write(PAGE)
    plain = room.run(command(browser, room, 'plain'), env, timeout=120)
    if plain.status or b'<title>200 words</title>' not in plain.out:
        print('1..0 # SKIP the browser does not run here: status %d, %s' % (
            plain.status, plain.err.decode(errors='replace').strip()[-200:].replace('\n', ' ')))
        return None
    os.makedirs(room.path('traces'))
    start = time.monotonic()
    done = room.run([FUNCTRACE, '-o', room.path('traces')] + command(browser, room, 'traced'), env, timeout=TIMEOUT)
    took = time.monotonic() - start
    said = '\n'.join(x for x in done.err.decode(errors='replace').split('\n') if x.startswith('functrace: '))
    problems = []
    if done.status != plain.status:
        problems.append('status %d, untraced %d' % (done.status, plain.status))
    if done.out != plain.out:
        problems.append('stdout differs: %d bytes, untraced %d: %r' % (len(done.out), len(plain.out), done.out[:300]))
    if 'by stopping all threads' in said:
        problems.append('breakpoints were stepped over by stopping all threads')
    events = sum(int(n.replace(',', '')) for n in re.findall(r': ([0-9,]+) events;', said))
    if events < LEAST_EVENTS:
        problems.append('only %d events, expected at least %d' % (events, LEAST_EVENTS))
    names = sorted(os.listdir(room.path('traces')))
    size = 0
    for name in names:
        more, made = readable(room.path('traces', name))
        problems += more
        size += made
    print('# %d events in %d traces, %d MB as text; %.0f s' % (events, len(names), size >> 20, took))
    if problems:
        problems.append('functrace said:\n' + said[-4000:])
    return problems


def main():
    browser = shutil.which('chromium') or shutil.which('chromium-browser') or shutil.which('google-chrome')
    if not browser:
        print('1..0 # SKIP chromium is not installed')
        return 77
    room = Room()
    try:
        problems = trace(browser, room)
    except Failure as failure:
        problems = [str(failure)]
    finally:
        left = room.close()
    if problems is None:
        return 77
    problems += left
    print('1..1')
    print('%s 1 - %s shows a page' % ('not ok' if problems else 'ok', os.path.basename(browser)))
    for problem in problems:
        for line in problem.split('\n'):
            print('#   ' + line)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
