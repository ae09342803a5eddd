#!/usr/bin/env python3
"""functrace-postproc --html: the page in headless Chromium, the data that it shows, and its size.

The programs are $FUNCTRACE and $FUNCTRACE_POSTPROC. Prints TAP.
"""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import chromium
import golden
from chromium import Chromium
from encode import Encoder
from run import LONG, PROGRAM, main, run

HEAD = """version=1.4,arch=x86_64,timestamp=2012-05-04 10:00:00 +0000,process=/bin/prog,pid=42,origin=test
<1> : memory (memory allocation in bytes)
<2> : fd (file descriptors)
"""
CALLS = """1. [10:00:01.000000] malloc<memory>(100) = 0x1000
\t0x10 alloc_a at %(folder)s/a.c:2
\t0x20 middle at /no/m.c:6
\t0x40 main at /no/m.c:8
\t0x50 __libc_start_main at /no/s.c:1

2. [10:00:02.000000] malloc<memory>(60) = 0x2000
\t0x11 alloc_b at /no/b.c:5
\t0x20 middle at /no/m.c:6
\t0x40 main at /no/m.c:8
\t0x50 __libc_start_main at /no/s.c:1

3. [10:00:03.000000] realloc<memory>(1000) = 0x4000
\t0x12 std::vector<int, std::allocator<int> >::push from /lib/libv.so
\t0x41 main at /no/m.c:9

4. [10:00:04.000000] free<memory>(0x4000)
5. [10:00:05.000000] free<memory>(0x1000)
6. [10:00:06.000000] open<fd>(1) = 0x3
\t0x13 open_it at /no/f.c:9
\t0x40 main at /no/m.c:8

7. [10:00:09.000000] free<memory>(0x9999)
"""

# Functions for the scripts of the tests. They are put into the page after its own scripts.
HARNESS = """<script>
function shown(selector) {
  return [...document.querySelectorAll(selector)].filter((e) => !e.closest('[hidden]')).map((e) => e.textContent);
}
function press(key, target) {
  (target || document.body).dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
}
function click(selector) {
  document.querySelector(selector).dispatchEvent(new MouseEvent('click', {bubbles: true}));
}
function box(name) {
  return [...document.querySelectorAll('.box')].find((e) => e.textContent === name);
}
function cards() {
  const all = {};
  for (const card of document.querySelectorAll('.card'))
    all[card.dataset.view] = [...card.querySelectorAll('.exact')].map((e) => e.textContent);
  return all;
}
function groups() {
  return [...document.querySelectorAll('#groups tr.group')].map((tr) => [...tr.cells].map((td) => td.innerText.trim()));
}
function sum() {
  return [...document.querySelectorAll('#groups tfoot td')].map((td) => td.textContent);
}
try {
  seen.value = (function () { %s })();
} catch (error) {
  seen.errors.push('the test: ' + error.stack);
}
document.body.append(Object.assign(document.createElement('pre'), {id: 'seen', textContent: JSON.stringify(seen)}));
</script>
</body>"""
LISTENERS = """<script>
const seen = {errors: []};
addEventListener('error', (event) => seen.errors.push(event.message));
document.addEventListener('securitypolicyviolation', (event) => seen.errors.push(event.violatedDirective));
</script>"""


def make_page(folder, data, *options):
    """Returns the page, as text."""
    path = os.path.join(folder, "page.html")
    run(f"--html={path}", "-q", *options, "-", data=data, check=0)
    with open(path, encoding="utf-8") as file:
        return file.read()


def trace(folder):
    with open(os.path.join(folder, "a.c"), "w", encoding="utf-8") as file:
        file.write('first\n\tp = malloc(n); /* <b>"here"</b> */\n')
    return (HEAD + CALLS % {"folder": folder}).encode()


def data_of(page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(found.group(1))


def browse(folder, page, script, state="", width=1280):
    """Returns the value of the script, which runs in the page. The state is the fragment of the page's address."""
    begin, end = page.index("<body>"), page.rindex("</body>")
    number, path = tempfile.mkstemp(".html", dir=folder)
    with open(number, "w", encoding="utf-8") as file:
        file.write(page[:begin] + "<body>" + LISTENERS + page[begin + 6:end] + HARNESS.replace("%s", script) + page[end + 7:])
    text, said = Chromium.get().show(f"file://{path}#{state}", "document.getElementById('seen').textContent", width, 1000)
    assert text, said
    seen = json.loads(text)
    assert not seen["errors"] and not said, (seen["errors"], said)
    return seen["value"]


def visit(folder, page, state="", options=(), may_say=None):
    """Loads the page in a browser of its own with these options; returns the value that the page's script has stored in
    seen.value. On the console the page may only print lines that match `may_say`."""
    path, own = os.path.join(folder, "browsed.html"), tempfile.mkdtemp(prefix="functrace-browser-")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
    done = subprocess.run(
        [*chromium.command(own), "--enable-logging=stderr", "--log-level=0", "--window-size=1280,1000", *options,
         "--dump-dom", f"file://{path}#{state}"], capture_output=True, timeout=300, env=chromium.environment(own))
    # Chromium's last processes may still be writing files there.
    shutil.rmtree(own, ignore_errors=True)
    text = done.stdout.decode()
    found = re.search(r'<pre id="seen">(.*?)</pre>', text, re.S)
    assert found, (done.returncode, text[-500:], done.stderr[-1000:])
    seen = json.loads(html.unescape(found.group(1)))
    complaints = [line for line in done.stderr.decode().splitlines() if "CONSOLE" in line
                  and not (may_say and re.search(may_say, line))]
    assert not seen["errors"] and not complaints, (seen["errors"], complaints)
    return seen["value"]


def the_page_shows_the_program_its_figures_and_stacks(folder):
    page = make_page(folder, trace(folder))
    value = browse(folder, page, """return {
        head: shown('#program, #about, #remarks summary'), cards: cards(), kinds: shown('.kind .type'),
        boxes: shown('.box'), title: document.title, groups: groups(), sum: sum()};""")
    assert value["head"] == ["/bin/prog", "process 42  ·  2012-05-04 10:00:00 UTC  ·  7 events within 8\xa0s  ·  "
                             "resident memory unknown",
                             "1 remark on this trace"], value["head"]
    assert value["cards"] == {"live": ["60 bytes", "1 block"], "peak": ["1,160 bytes", "3 blocks"],
                              "allocated": ["1,160 bytes", "3 blocks"], "temporary": ["1,000 bytes", "1 block"],
                              "moment": ["pick a moment below"]}, value["cards"]
    assert value["kinds"] == ["memory", "fd"]
    assert value["boxes"] == ["all", "main", "middle", "alloc_b", "malloc"], value["boxes"]
    assert value["title"] == "/bin/prog – functrace"
    assert value["groups"] == [["100.0 %", "60", "1", "60", "none ended", "alloc_b b.c:5\n← middle ← main"]], value
    assert value["sum"] == ["", "60", "1", "", "", "1 stack in all"]


def the_page_draws_resident_memory_over_time(folder):
    data = trace(folder).replace(b"\n2. [", b"\n## resident 40960000 81920000\n2. [").replace(
        b"\n7. [", b"\n## resident 20480000 90112000\n7. [")
    page = make_page(folder, data)
    assert data_of(page)["programs"][0]["resident_peak"] == 90112000
    series = data_of(page)["resident"]
    assert series[0] == 40960000 and series[-1] == 20480000, series
    value = browse(folder, page, """return {head: shown('#about'), labels: shown('#time .scale'),
        lines: document.querySelectorAll('#time .edge.resident').length};""")
    assert "19.5 MiB resident when last measured, 85.9 MiB at the peak" in value["head"][0].replace("\xa0", " "), value
    assert value["lines"] == 1 and value["labels"][-1].replace("\xa0", " ") == "39.1 MiB resident", value
    late = trace(folder).replace(b"\n7. [", b"\n## resident 20480000 90112000\n7. [")
    series = data_of(make_page(folder, late))["resident"]
    assert series[0] is None and series[-1] == 20480000, series
    value = browse(folder, make_page(folder, late), """
        return document.querySelector('#time .edge.resident').getAttribute('d');""", width=1280)
    assert re.match(r"M[5-9]\d\d", value), value
    value = browse(folder, make_page(folder, data), """
        return document.querySelectorAll('#time .edge.resident').length;""", "kind=1")
    assert value == 0, value


def each_view_of_the_page_has_its_figures(folder):
    page = make_page(folder, trace(folder))
    script = "return {groups: groups(), boxes: shown('.box'), kind: shown('#flame-title')};"
    value = browse(folder, page, script, "view=allocated")
    assert [row[1:3] for row in value["groups"]] == [["1,000", "1"], ["100", "1"], ["60", "1"]]
    # main has calls on two lines and is one box. Names have the form that people write.
    assert value["boxes"] == ["all", "main", "std::vector<int>::push", "realloc", "middle", "alloc_a", "malloc", "alloc_b",
                              "malloc"], value["boxes"]
    value = browse(folder, page, script, "view=temporary&unit=blocks")
    assert [row[1:3] for row in value["groups"]] == [["1,000", "1"]]
    value = browse(folder, page, script, "kind=1")
    assert value["groups"] == [["100.0 %", "1", "none ended", "open_it f.c:9\n← main"]], value["groups"]


def the_page_shows_the_figures_of_each_thread(folder):
    script = "return [...document.querySelectorAll('#threads tr')].map((tr) => [...tr.cells].map((c) => c.textContent));"
    assert browse(folder, make_page(folder, trace(folder)), script) == []
    data = trace(folder).replace(b"1. [", b"## thread 7 main\n1. [").replace(b"\n2. [", b"\n## thread 8 <b>io\n2. [") \
                        .replace(b"\n3. [", b"\n## thread 7 main\n3. [")
    page = make_page(folder, data)
    head = ["Alive at the end, bytes", "Allocated, bytes", "Temporary, bytes", "Thread"]
    assert browse(folder, page, script) == [head, ["60", "60", "0", "8 <b>io"], ["0", "1,100", "1,000", "7 main"]]
    value = browse(folder, page, script, "view=allocated&unit=blocks")
    assert value == [[word.replace("bytes", "blocks") for word in head], ["0", "2", "1", "7 main"],
                     ["1", "1", "0", "8 <b>io"]], value
    early = data.replace(b"## thread 7 main\n1. [", b"## before <1> 0x90000 24\n1. [")
    assert browse(folder, make_page(folder, early), script) == [
        head, ["60", "60", "0", "8 <b>io"], ["24", "24", "0", "[before the trace]"], ["0", "1,000", "1,000", "7 main"],
        ["0", "100", "0", "(unknown)"]]
    # A kind whose resources were all allocated by one thread has no view by threads.
    assert browse(folder, page, script, "kind=1") == []


# The block of alloc_b is lost. It is unknown which descriptors are lost.
SCANNED = """## scan <1>
## lost <1> 0x2000 definitely
## lost <1> 0x3000 indirectly
## lost <1> 0x5000 possibly
## scan <2> its heap is <b>unknown
"""
MORE = """8. [10:00:09.000000] malloc<memory>(7) = 0x3000
\t0x11 alloc_b at /no/b.c:5
\t0x20 middle at /no/m.c:6
\t0x40 main at /no/m.c:8
\t0x50 __libc_start_main at /no/s.c:1

9. [10:00:09.000000] malloc<memory>(5) = 0x5000
\t0x10 alloc_a at %(folder)s/a.c:2
\t0x40 main at /no/m.c:8

10. [10:00:09.000000] malloc<memory>(3) = 0x6000
\t0x10 alloc_a at %(folder)s/a.c:2
\t0x40 main at /no/m.c:8

"""


def the_page_shows_the_results_of_a_scan(folder):
    more = (MORE % {"folder": folder}).encode()
    page = make_page(folder, trace(folder) + more + SCANNED.encode())
    kind = data_of(page)["kinds"][0]
    assert kind["lost"] == [1, 60, 1, 7, 1, 5] and kind["not_scanned"] == [0, 0], kind
    script = """return {cards: cards(), order: [...document.querySelectorAll('.card')].map((e) => e.dataset.view),
        view: state.view, scan: shown('#scan li'), bold: shown('#scan b').length, groups: groups(), sum: sum(),
        head: shown('#groups th'), titles: shown('#flame-title, #groups-title'), boxes: shown('.box'), hash: location.hash};"""
    value = browse(folder, page, script)
    assert value["view"] == "lost" and value["hash"] == "", value
    assert value["order"] == ["lost", "possibly", "live", "peak", "allocated", "temporary", "moment"], value
    assert value["cards"]["lost"] == ["67 bytes", "2 blocks"] and value["cards"]["possibly"] == ["5 bytes", "1 block"], value
    assert value["scan"] == ["60 bytes in 1 block definitely lost: no pointer leads to them",
                             "7 bytes in 1 block indirectly lost: only lost blocks lead to them",
                             "5 bytes in 1 block possibly lost: reached only through an interior pointer, or perhaps from memory not copied",
                             "3 bytes in 1 block still reachable"], value["scan"]
    assert value["groups"] == [["100.0 %", "67", "2", "34", "definitely, indirectly", "alloc_b b.c:5\n← middle ← main"]], value
    assert value["head"] == ["Share", "Bytes", "Blocks", "Mean size", "Lost", "Allocated by"], value
    assert value["titles"] == ["Lost, from callers to the functions they call", "Lost, by stack"], value
    assert value["boxes"] == ["all", "main", "middle", "alloc_b", "malloc"], value
    value = browse(folder, page, script, "view=possibly")
    assert [row[1:3] for row in value["groups"]] == [["5", "1"]] and "Lost" not in value["head"], value
    value = browse(folder, page, script, "view=live")
    assert value["hash"] == "#view=live" and value["sum"][1] == "75", value
    # An unknown heap is shown as such, and HTML in the reason is shown as text.
    value = browse(folder, page, script, "kind=1")
    assert value["scan"] == ["The lost blocks of /bin/prog are unknown: its heap is <b>unknown"], value
    assert value["bold"] == 0 and value["order"][0] == "live" and value["view"] == "live", value
    value = browse(folder, page, """
        const seen = [];
        for (const key of ['1', '2', '3', '7']) {
          press(key);
          seen.push(state.view);
        }
        press('Escape');
        seen.push(state.view);
        press('1');
        press('Enter', document.querySelector('tr.group'));
        seen.push(shown('.details dt').filter((e) => e.includes('lost')), shown('.details dd'));
        return seen;""")
    assert value[:5] == ["lost", "possibly", "live", "moment", "lost"], value
    assert value[5] == ["Definitely lost", "Indirectly lost"] and "60 bytes in 1 block" in value[6], value
    # A comparison adds a view, and each view has its key.
    compared = make_page(folder, trace(folder) + more + SCANNED.encode(), "--diff=@2")
    value = browse(folder, compared, """
        const seen = [viewsOf(data.kinds[0]).length];
        for (const key of ['7', '8', '9']) {
          press(key);
          seen.push(state.view);
        }
        return seen;""")
    assert value == [8, "temporary", "moment", "moment"], value
    # The scan has found no lost block.
    value = browse(folder, make_page(folder, trace(folder) + b"## scan <1>\n"), script)
    assert value["view"] == "live" and value["order"][0] == "lost" and value["cards"]["lost"] == ["0 bytes", "0 blocks"], value
    assert value["scan"] == ["0 bytes in 0 blocks definitely lost: no pointer leads to them",
                             "60 bytes in 1 block still reachable"], value
    # The trace has no scan.
    value = browse(folder, make_page(folder, trace(folder)), script)
    assert value["scan"] == [] and value["order"][0] == "live", value


def the_page_shows_growth_in_a_differential_flame_graph(folder):
    """Since second 2: alloc_a's block was released, alloc_b's stayed, main opened a descriptor; one group shrank, one
    grew."""
    calls = CALLS % {"folder": folder} + "".join(
        f"{8 + i}. [10:00:0{9 if i else 7}.000000] malloc<memory>({500 + i}) = 0x{0x5000 + i:x}\n\t0x14 late at /no/l.c:{4 + i}\n"
        "\t0x40 main at /no/m.c:8\n\n" for i in range(2))
    page = make_page(folder, (HEAD + calls).encode(), "--diff=@2")
    data = data_of(page)
    assert data["compared"] == "the state after 2.000 s" and data["kinds"][0]["old"] == [3, 1160], data
    assert sorted(row[6:8] + row[19:21] for row in data["kinds"][0]["rows"]) == [
        [0, 0, 1, 100], [0, 0, 1, 1000], [1, 60, 1, 60], [1, 500, 0, 0], [1, 501, 0, 0]], data["kinds"][0]["rows"]
    value = browse(folder, page, """
        const all = [...document.querySelectorAll('.box')];
        const kindOf = (e) => ['grew', 'shrank', 'plain'].filter((c) => e.classList.contains(c)).join();
        all[0].focus();
        press('ArrowDown', document.activeElement);
        return {cards: cards(), boxes: all.map((e) => e.textContent + ' ' + kindOf(e)), focus: document.activeElement.textContent,
          labels: all.map((e) => e.getAttribute('aria-label')), legend: shown('#legend span'), groups: groups(),
          titles: shown('#flame-title')};""")
    assert value["cards"]["grown"] == ["\u221299 bytes, 0 blocks", "than the state after 2.000 s"], value
    assert value["boxes"] == ["all shrank", "main shrank", "late grew", "malloc grew", "middle shrank", "alloc_b plain",
                              "malloc plain"], value["boxes"]
    assert value["labels"][2] == "late: 1,001 bytes in 2 blocks, +1,001 bytes, +2 blocks than before", value["labels"]
    assert value["labels"][4] == "middle: 60 bytes in 1 block, \u2212100 bytes, \u22121 block than before", value["labels"]
    assert value["focus"] == "main" and value["legend"][:3] == ["more than before", "as before", "less than before"], value
    assert [row[2] for row in value["groups"]] == ["+501", "+500", "0", "\u2212100", "\u22121,000"], value["groups"]
    assert "compared to the state after 2.000 s" in value["titles"][0], value["titles"]
    old = os.path.join(folder, "old")
    with open(old, "wb") as file:
        file.write((HEAD + CALLS.split("3. [")[0] % {"folder": folder}).encode())
    data = data_of(make_page(folder, (HEAD + calls).encode(), "--diff=" + old))
    assert data["compared"] == "/bin/prog, process 42" and data["kinds"][0]["old"] == [2, 160], data
    with open(old, "ab") as file:
        file.write(b"## old\n" * 25)
    data = data_of(make_page(folder, (HEAD + calls + "## new\n").encode(), "--diff=" + old))
    assert data["notes"] == ["new"] and data["notes_left_out"] == 0, data["notes"]


def the_page_shows_abnormal_ends_and_counts_hidden_notes(folder):
    notes = "".join(f"## open of /nope/{i} failed\n" for i in range(130))
    end = "## process 42 was killed by signal 11 (Segmentation fault)\n"
    page = make_page(folder, trace(folder) + (notes + end).encode())
    data = data_of(page)
    assert data["ends"] == ["killed by signal 11 (Segmentation fault)"], data["ends"]
    assert len(data["notes"]) == 20 and data["notes_left_out"] == 110, data["notes_left_out"]
    value = browse(folder, page, "return [shown('#ends li'), shown('#remarks li')];")
    assert value[0] == ["Killed by signal 11 (Segmentation fault)"], value
    assert value[1][-1] == "110 more notes, which functrace-postproc TRACE prints", value[1][-1]


def the_page_shows_the_live_blocks_of_a_selected_moment(folder):
    page = make_page(folder, trace(folder))
    data = data_of(page)
    width = data["moment_width"]
    assert data["moment_count"] == data["end"] // width + 1 <= 64 and data["end"] == 8 * 10 ** 9
    for seconds, expected in ((0.5, ["100", "1"]), (1.5, ["160", "2"]), (2.9, ["1,160", "3"]), (3.5, ["160", "2"]),
                              (7.5, ["60", "1"]), (1 - width / 1e10, ["100", "1"]), (1 + width / 1e9, ["160", "2"])):
        # The last two: just before the second call, and just after it.
        moment = int(seconds * 1e9) // width
        value = browse(folder, page, "return {sum: sum(), card: cards().moment, now: "
                       "document.getElementById('time').getAttribute('aria-valuenow')};", f"moment={moment}")
        assert value["sum"][1:3] == expected and value["now"] == str(moment), (seconds, value)
        assert value["card"][0].startswith(expected[0] + " byte")
    # Keys select the first moment and one after it, and leave it. Then a click selects a moment.
    value = browse(folder, page, """
        const time = document.getElementById('time'), seen = [];
        press('Home', time);
        seen.push([state.view, state.moment, sum()[1]]);
        for (let i = 0; i < 10; i++)
          press('ArrowRight', time);
        seen.push([state.view, state.moment, cards().moment[0], location.hash]);
        press('Escape');
        seen.push([state.view, state.moment, location.hash]);
        const place = time.getBoundingClientRect();
        time.dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: place.left + place.width / 2}));
        seen.push([state.view, state.moment]);
        return seen;""")
    middle = round(4e9 / width)
    assert value[0][:2] == ["moment", 0], value
    assert value[1][:2] == ["moment", 10] and value[1][3] == "#view=moment&moment=10", value
    assert value[2] == ["live", None, ""], value
    assert value[3] == ["moment", middle], (value, middle)


def keys_of_the_page_select_views_zoom_and_search(folder):
    page = make_page(folder, trace(folder))
    value = browse(folder, page, """
        const seen = [];
        press('3');
        seen.push([state.view, groups().length]);
        box('middle').focus();
        press('Enter', box('middle'));
        seen.push([shown('#found')[0], groups().length, document.activeElement.textContent]);
        press('ArrowDown', document.activeElement);
        seen.push(document.activeElement.textContent);
        press('ArrowUp', document.activeElement);
        press('ArrowUp', document.activeElement);
        seen.push(document.activeElement.textContent);
        press('Escape');
        press('i');
        seen.push([shown('.box').slice(0, 3), shown('#flame-title')[0]]);
        press('i');
        press('/');
        seen.push(document.activeElement.id);
        document.activeElement.value = 'LIBV';
        document.activeElement.dispatchEvent(new Event('input', {bubbles: true}));
        seen.push([shown('#found')[0], shown('.hit'), groups().length]);
        press('Escape', document.activeElement);
        press('b');
        seen.push([state.unit, state.find, groups().length]);
        press('t');
        seen.push([document.documentElement.dataset.theme, location.hash]);
        press('?');
        seen.push(document.getElementById('help').open);
        return seen;""")
    assert value[0] == ["allocated", 3]
    assert value[1] == ["Only stacks through middle: 160 bytes in 2 blocks, 13.8 %.", 2, "middle"], value[1]
    assert value[2:4] == ["alloc_a", "main"], value
    assert value[4] == [["all", "realloc", "std::vector<int>::push"], "Allocated, from the allocating functions to their callers"]
    assert value[5] == "find"
    assert value[6] == ["Found in stacks with 1,000 bytes in 1 block, 86.2 %.", ["std::vector<int>::push"], 1], value[6]
    assert value[7] == ["blocks", "", 3]
    assert value[8] == ["light", "#view=allocated&unit=blocks&theme=light"], value[8]
    assert value[9] is True
    value = browse(folder, page, "return [shown('#found'), groups().length, groups()[0]];", "view=allocated&find=nowhere")
    assert value == [["“nowhere” is in no stack."], 0, None], value


def an_opened_stack_of_the_page_shows_its_source_and_figures(folder):
    page = make_page(folder, trace(folder))
    value = browse(folder, page, """
        press('3');
        const row = [...document.querySelectorAll('tr.group')].find((tr) => tr.innerText.includes('alloc_a'));
        press('Enter', row);
        const open = document.querySelector('.details');
        const seen = {stack: [...open.querySelectorAll('li')].map((li) => li.textContent),
          code: shown('.details code'), names: shown('.details dt'), figures: shown('.details dd'),
          elements: open.querySelectorAll('b').length};
        press('Enter', document.activeElement);
        seen.after = document.querySelectorAll('.details').length;
        return seen;""")
    assert value["stack"] == ["malloc", 'alloc_a a.c:2p = malloc(n); /* <b>"here"</b> */', "middle m.c:6", "main m.c:8"]
    assert value["code"] == ['p = malloc(n); /* <b>"here"</b> */'] and value["elements"] == 0
    assert dict(zip(value["names"], value["figures"])) == {
        "Allocated": "100 bytes in 1 block", "Alive at the end": "0 bytes in 0 blocks",
        "Alive at the peak": "100 bytes in 1 block", "Temporary": "0 bytes in 0 blocks",
        "Released": "1 block after 4\xa0s on average", "First": "at 0\xa0ns"}, value
    assert value["after"] == 0


def the_page_shows_hostile_names_as_text(folder):
    name = b"</script><script>seen.errors.push(1)</script><img src=x onerror=seen.errors.push(2)>&amp;\xff\"'"
    data = trace(folder).replace(b"alloc_b", name).replace(b"/bin/prog", b"/bin/" + name).replace(b"fd", b"<i>fd")
    page = make_page(folder, data)
    value = browse(folder, page, """
        return {boxes: shown('.box'), images: document.images.length, scripts: document.scripts.length,
                italics: document.querySelectorAll('i').length, title: document.title, kinds: shown('.kind .type')};""",
                   "theme=<script>&find=<b>&open=0,x,-1&moment=1e9&view=<&kind=99")
    expected = name.decode("utf-8", "replace")
    assert expected in value["boxes"], value
    assert value["images"] == value["italics"] == 0 and value["scripts"] == 4, value
    assert value["title"] == f"/bin/{expected} – functrace" and value["kinds"] == ["memory", "<i>fd"], value


def the_page_says_what_an_empty_or_bare_trace_does_not_have(folder):
    page = make_page(folder, HEAD.encode())
    value = browse(folder, page, "return [shown('#cards .exact'), shown('#flame'), shown('#groups-title')];")
    assert value[0][0] == "0 bytes" and value[1] == ["Nothing is alive at the end."], value
    assert value[2] == []
    # The trace has no resources.
    page = make_page(folder, HEAD.split("\n", maxsplit=1)[0].encode() + b"\n")
    assert browse(folder, page, "return shown('.nothing');") == ["The trace has no events."]
    # Without times moments are counted in calls; without stacks groups are by function.
    lines = [line for line in CALLS.splitlines() if line[:1].isdigit()]
    data = HEAD + "\n".join(re.sub(r" \[.*?\]", "", line) for line in lines) + "\n"
    page = make_page(folder, data.encode())
    value = browse(folder, page, "return [shown('#time-title'), groups(), shown('.box'), shown('.axis').slice(-1)];",
                   "view=allocated")
    assert value[0] == ["Over the calls"], value
    assert [row[-1] for row in value[1]] == ["realloc\nno stack was taken", "malloc\nno stack was taken"], value[1]
    assert value[2] == ["all", "realloc", "malloc"], value[2]
    assert value[3][0].endswith("calls"), value[3]


def the_page_shows_unknown_lives_for_blocks_from_before_the_trace(folder):
    """A block from before the trace was released, so it is unknown how long it had lived."""
    before = "## before <1> 0x90000 24\n## before <1> 0x91000 16\n"
    page = make_page(folder, (HEAD + before + "1. [10:00:01.000000] free<memory>(0x90000)\n").encode())
    row = data_of(page)["kinds"][0]["rows"][0]
    assert row[12:14] == [1, None], row
    value = browse(folder, page, "return groups();")
    assert len(value) == 1 and "unknown" in value[0], value


def figures_of(stats):
    """{view: (blocks, bytes)} from --stats of one resource."""
    number = lambda words: tuple(map(int, re.search(words, stats).groups()))
    return {"live": number(r"live at the end *(\d+) *bytes *(\d+)"),
            "allocated": number(r"allocations *(\d+) *bytes *(\d+)"),
            "peak": number(r"peak bytes *(\d+)")}


def the_page_has_the_figures_of_stats(folder):
    """The program is a real one. The shown figures and the sums of all rows are compared."""
    path = os.path.join(folder, "t.rtrace")
    subprocess.run([os.environ["FUNCTRACE"], "-q", "-b", "20", "-o", path, "perl", "-e",
                    "my @x = map { 'y' x $_ } 1..300"], check=True, timeout=120)
    stats = figures_of(run("--stats", path, check=0).stdout.decode())
    out = os.path.join(folder, "page.html")
    run(f"--html={out}", path, check=0)
    with open(out, encoding="utf-8") as file:
        page = file.read()
    rows = data_of(page)["kinds"][0]["rows"]
    assert (sum(row[6] for row in rows), sum(row[7] for row in rows)) == stats["live"]
    assert (sum(row[4] for row in rows), sum(row[5] for row in rows)) == stats["allocated"]
    assert sum(row[9] for row in rows) == stats["peak"][0]
    value = browse(folder, page, """
        const all = {};
        for (const view of ['live', 'peak', 'allocated']) {
          click('#card-' + view);
          all[view] = [sum()[2], sum()[1], cards()[view], document.querySelector('.box').getAttribute('aria-label')];
        }
        return all;""")
    for view, (*blocks, size) in stats.items():
        shown = value[view]
        assert int(shown[1].replace(",", "")) == size, (view, shown, size)
        assert shown[2][0] == f"{size:,} bytes" and shown[3].startswith(f"all: {size:,} bytes in "), shown
        if blocks:
            assert int(shown[0].replace(",", "")) == blocks[0] and shown[2][1] == f"{blocks[0]:,} blocks", shown


def the_page_names_the_filters(folder):
    page = make_page(folder, trace(folder), "--size=60-100", "--function=alloc_?")
    words = "Only what these options select: --size=60-100 --function='alloc_?'"
    assert browse(folder, page, "return shown('#selection');") == [words]
    assert browse(folder, make_page(folder, trace(folder)), "return shown('#selection');") == []


def html_may_be_combined_with_report_but_not_with_other_outputs(folder):
    path, out = os.path.join(folder, "t"), os.path.join(folder, "page.html")
    with open(path, "wb") as file:
        file.write(trace(folder))
    done = run(f"--html={out}", "--report", path, path, check=0)
    assert done.stdout.startswith(b"program     /bin/prog"), done.stdout
    with open(out, encoding="utf-8") as file:
        data = data_of(file.read())
    assert len(data["programs"]) == 2 and data["kinds"][0]["live"] == [2, 120] and "most" not in data["kinds"][0]
    assert run(f"--html={out}", path, check=0).stdout == b""
    for wrong in (["--stats"], ["-l"], ["-f", "text"], ["-f", "heaptrack"]):
        if wrong[-1] == "heaptrack" and b"heaptrack" not in run("--help").stdout:
            continue
        assert run(f"--html={out}", *wrong, path).returncode == 2, wrong
    # The file name of --html was forgotten, so that the first trace is taken for it.
    done = run("--html", path, path)
    assert done.returncode == 2 and b"which is no page" in done.stderr, done
    with open(path, "rb") as file:
        assert file.read() == trace(folder)
    assert run("--html=-", path, check=0).stdout == run("--html=/dev/stdout", path, check=0).stdout
    done = run("--html=/dev/full", path)
    assert done.returncode == 1 and b"No space left" in done.stderr, done
    done = run(f"--html={folder}/none/page.html", path)
    assert done.returncode == 1 and b"none/page.html" in done.stderr, done


STACKS, ROUNDS = 101000, 5 if LONG else 1


def write_large_trace(path):
    """Writes a trace with more stacks than a page has room for. With CHECK_LONG it has a million events."""
    encoder = Encoder("1.4", 8, False)
    stacks = [encoder.packet(("BTRC", 0x10000000 + 16 * i, 0x8000000 + 16 * (i // 4), 0x4000000 + 16 * (i // 64),
                              0x2000000 + 16 * (i // 1024), 0x1000000 + 16 * (i // 16384), 0x900000, 0x800000))
              for i in range(STACKS)]
    with open(path, "wb") as file:
        file.write(encoder.trace(golden.DECLARATIONS))
        for number in range(ROUNDS):
            start = 3600000 + number * 20000
            file.write(b"".join(
                encoder.packet(("CALL", 1, 0, start + i // 10, 2, "malloc", i % 1000 + 1, 0x600000 + 16 * i)) + stacks[i]
                for i in range(STACKS)))
            kept = 10000 if number == ROUNDS - 1 else 0
            file.write(b"".join(
                encoder.packet(("CALL", 1, 0, start + 10000 + i // 10, 1, "free", 0, 0x600000 + 16 * i))
                for i in range(kept, STACKS)))


def the_page_of_a_large_trace_stays_small(folder):
    path, out = os.path.join(folder, "t.rtrace"), os.path.join(folder, "page.html")
    write_large_trace(path)
    stats = figures_of(run("--stats", path, check=0).stdout.decode())
    process = subprocess.Popen([PROGRAM, f"--html={out}", path])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0
    size = os.path.getsize(out)
    print(f"# {size:,} bytes; {usage.ru_utime:.1f} s, {usage.ru_maxrss // 1024} MiB to make it")
    assert size < 5000000, size
    with open(out, encoding="utf-8") as file:
        page = file.read()
    rows = data_of(page)["kinds"][0]["rows"]
    folded = sum(row[2] for row in rows)
    assert folded + sum(not row[2] for row in rows) == STACKS and folded > STACKS / 2, (folded, len(rows))
    assert (sum(row[6] for row in rows), sum(row[7] for row in rows)) == stats["live"]
    assert (sum(row[4] for row in rows), sum(row[5] for row in rows)) == stats["allocated"]
    assert stats["live"][0] == 10000
    value = browse(folder, page, """
        const opened = performance.now();
        press('3');
        press('i');
        return [opened, performance.now() - opened, shown('.box')[0], sum(), cards().allocated];""")
    assert value[2] == "all" and value[4][1] == f"{ROUNDS * STACKS:,} blocks" and value[3][2] == f"{ROUNDS * STACKS:,}", value
    assert value[3][-1] == f"{STACKS:,} stacks in all"
    print(f"# opened after {value[0]:.0f} ms; another view, inverted: {value[1]:.0f} ms")


TESTS = [the_page_shows_the_program_its_figures_and_stacks,
         the_page_shows_unknown_lives_for_blocks_from_before_the_trace, the_page_draws_resident_memory_over_time,
         the_page_shows_growth_in_a_differential_flame_graph, the_page_shows_abnormal_ends_and_counts_hidden_notes,
         each_view_of_the_page_has_its_figures, the_page_shows_the_figures_of_each_thread,
         the_page_shows_the_results_of_a_scan, the_page_shows_the_live_blocks_of_a_selected_moment,
         keys_of_the_page_select_views_zoom_and_search, an_opened_stack_of_the_page_shows_its_source_and_figures,
         the_page_shows_hostile_names_as_text, the_page_says_what_an_empty_or_bare_trace_does_not_have,
         the_page_has_the_figures_of_stats, the_page_names_the_filters,
         html_may_be_combined_with_report_but_not_with_other_outputs, the_page_of_a_large_trace_stays_small]

if __name__ == "__main__":
    sys.exit(main(TESTS))
