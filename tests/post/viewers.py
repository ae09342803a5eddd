#!/usr/bin/env python3
"""functrace-postproc -f NAME for viewers that are web pages: the text that they show in headless Chromium.

valgrind's dh_view.html is in Debian's package; speedscope is found by its command (npm install -g speedscope). The
programs are $FUNCTRACE and $FUNCTRACE_POSTPROC. Prints TAP.
"""

import base64
import json
import os
import re
import shutil
import sys

from exports import HOSTILE_TEXTS, export, hostile_trace, pprof_of, real_trace, write
from page import LISTENERS, visit
from report import TRACE
from run import Skip, main, run

# Virtual time does not wait while the page has nothing to do.
OPTIONS = ("--virtual-time-budget=30000", "--allow-file-access-from-files")
DHAT = """<script>
addEventListener('load', () => {
  const files = new DataTransfer();
  files.items.add(new File([%s], 'dhat.json'));
  gInput.files = files.files;
  gInput.onchange();
  const wait = () => {
    if (/^Load/.test(gMainDiv.innerText))
      return setTimeout(wait, 10);
    seen.value = gMainDiv.innerText;
    document.body.append(Object.assign(document.createElement('pre'), {id: 'seen', textContent: JSON.stringify(seen)}));
  };
  wait();
});
</script></body>"""
# The key 3 selects the sandwich view, because the page's text contains its table, but no pictures.
SPEEDSCOPE = """<script>
window.alert = (text) => seen.errors.push(text);
addEventListener('load', () => {
  const look = (tries) => {
    dispatchEvent(new KeyboardEvent('keypress', {key: '3'}));
    const rows = [...document.querySelectorAll('tr')].map((row) => [...row.cells].map((cell) => cell.innerText));
    if (tries && !seen.errors.length && !rows.some((row) => row[2] === 'Symbol Name'))
      return setTimeout(look, 50, tries - 1);
    seen.value = {title: document.title, rows};
    document.body.append(Object.assign(document.createElement('pre'), {id: 'seen', textContent: JSON.stringify(seen)}));
  };
  look(200);
});
</script></body>"""


def with_script(folder, name, script):
    """Returns the page of that name in the folder, with the script added. The page refers to its files by absolute
    paths."""
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        page = re.sub(r'(src|href)="(?!file:)', rf'\1="file://{folder}/', file.read())
    begin = page.index("<body")
    return page[:begin] + LISTENERS + page[begin:].replace("</body>", script)


def show_dhat(folder, viewer, content):
    """Returns the text that the viewer shows of such a file."""
    text = json.dumps(content.decode()).replace("</", "<\\/")
    return visit(folder, with_script(*os.path.split(viewer), DHAT.replace("%s", text)), options=OPTIONS)


def dh_view_shows_the_dhat_file(folder):
    """The sums are those of --stats."""
    viewer = "/usr/libexec/valgrind/dh_view.html"
    if not os.path.exists(viewer):
        raise Skip("valgrind's dh_view.html is not installed")
    trace, blocks, size, peak, calls = real_trace(folder)
    for data, figures in ((hostile_trace(), (700, 7, 700, 700, 7)), (None, (None, calls, peak, size, blocks))):
        content = run("-f", "dhat", trace, check=0).stdout if data is None else export("dhat", data=data)
        text = show_dhat(folder, viewer, content)
        shown = text[text.index("PP 1/1"):]
        for words, (size_wanted, blocks_wanted) in (("Total:", figures[:2]), ("At t-gmax:", (figures[2], None)),
                                                    ("At t-end:", figures[3:])):
            found = re.search(words + r" +([\d,]+) bytes \(100%.*?\) in ([\d,]+) blocks", shown).groups()
            have = tuple(int(figure.replace(",", "")) for figure in found)
            assert have == (size_wanted or have[0], blocks_wanted or have[1]), (words, have, figures, text)
        assert data is None or all(f": {name} (" in text for name in HOSTILE_TEXTS[:-1] + ["\\377\\376("]), text


def show_speedscope(folder, release, name, content):
    """Returns the profiles that speedscope imports, if there are several, and each function's total and self figures in
    the first one."""
    load = write(folder, "load.js", f"speedscope.loadFileFromBase64({json.dumps(name)}, "
                 f"{json.dumps(base64.b64encode(content).decode())})".encode())
    seen = visit(folder, with_script(release, "index.html", SPEEDSCOPE), f"localProfilePath={load}", options=OPTIONS,
                 may_say="WebGL|speedscope v|Importing as|import: ")
    rows = seen["rows"]
    at = rows.index(["Total", "Self", "Symbol Name"])
    return [row[1:] for row in rows[1:at]], [(name, *(re.sub(r" *\(.*", "", figure) for figure in figures))
                                             for *figures, name in rows[at + 1:]]


def speedscope_imports_speedscope_collapsed_and_pprof_files(folder):
    command = shutil.which("speedscope")
    if not command:
        raise Skip("speedscope is not installed (npm install -g speedscope)")
    release = os.path.join(os.path.dirname(os.path.realpath(command)), "../dist/release")
    below = [("alloc_b", "60 B", "0 B"), ("alloc_a", "140 B", "0 B")] + [
        (name, "200 B", "0 B") for name in ("middle", "outer", "main", "__libc_start_main", "_start")]
    profiles, rows = show_speedscope(folder, release, "t.speedscope.json", export("speedscope", data=TRACE))
    assert profiles == [["memory: live", "200 B"], ["fd: live", "1 B"]], profiles
    assert rows == [("malloc", "200 B", "200 B"), *below], rows
    _, rows = show_speedscope(folder, release, "t.collapsed", export("collapsed", "-R", "memory", data=TRACE))
    assert rows == [("malloc", "200", "200")] + [(name, *(figure[:-2] for figure in figures)) for name, *figures in below], rows
    _, rows = show_speedscope(folder, release, "t.pb.gz", pprof_of(write(folder, "t.txt", TRACE)))
    assert sorted(rows) == sorted([("alloc_b", "60 B", "60 B"), ("alloc_a", "140 B", "140 B"), *below[2:]]), rows
    _, rows = show_speedscope(folder, release, "t.speedscope.json", export("speedscope", data=hostile_trace()))
    assert set(HOSTILE_TEXTS) <= {row[0] for row in rows}, rows


TESTS = [dh_view_shows_the_dhat_file, speedscope_imports_speedscope_collapsed_and_pprof_files]

if __name__ == "__main__":
    sys.exit(main(TESTS))
