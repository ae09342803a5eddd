// The state of the page, which its address also contains after '#', and the parts of the page.

const state = {
  kind: 0, view: 'live', unit: 'bytes', moment: null, invert: false, find: '', zoom: 0, open: new Set(), sort: '',
  rows: ROWS_AT_FIRST, theme: '',
};
let scene = null;

const VIEW_TITLES = {
  grown: 'Compared to before',
  lost: 'Lost', possibly: 'Possibly lost', live: 'Alive at the end', peak: 'Alive at the peak', allocated: 'Allocated', temporary: 'Temporary',
  moment: 'Alive at a moment',
};
const VIEW_HELP = {
  grown: 'resources alive at the end, and the difference from before',
  lost: 'blocks to which no pointer of the process led at the end, or only pointers in lost blocks',
  possibly: 'blocks that were reached at the end only through an interior pointer, or perhaps from memory not copied',
  live: 'resources that were not released during the trace', peak: 'resources that were alive when the most bytes were alive',
  allocated: 'all allocations, released or not',
  temporary: 'resources that were released before the next allocation',
  moment: 'resources that were alive at the moment that is picked on the time line',
};
const EMPTY = {
  grown: 'Nothing is alive at the end.',
  lost: 'Nothing is lost.', possibly: 'Nothing is possibly lost.',
  live: 'Nothing is alive at the end.', peak: 'Nothing was ever alive.',
  allocated: 'Nothing was allocated.', temporary: 'Nothing was released before the next allocation.',
  moment: 'Nothing was alive at that moment.',
};

function viewsOf(kind) {
  if (kind.is_call)
    return ['allocated'];
  return !kind.scan ? VIEWS : value(kind.scan.possibly[0]) ? ['lost', 'possibly', ...VIEWS] : ['lost', ...VIEWS];
}

// The view that is shown first.
function firstView(kind) {
  return kind && kind.is_call ? 'allocated' : data.compared ? 'grown' : kind && kind.scan && value(kind.scan.lost[0]) ? 'lost' : 'live';
}

function figureOfView(kind, view) {
  if (view === 'lost' || view === 'possibly')
    return kind.scan[view];
  if (view !== 'moment')
    return kind[view];
  return state.moment === null ? null : sumRows(kind.rows, 'moment', state.moment);
}

// The number in a text of the address, or `otherwise` if there is none below `below`.
function numberIn(text, below, otherwise) {
  return /^\d{1,9}$/.test(text || '') && +text < below ? +text : otherwise;
}

function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));

  state.kind = numberIn(said.get('kind'), data.kinds.length, 0);
  const kind = data.kinds[state.kind];
  state.moment = numberIn(said.get('moment'), data.moment_count, null);
  state.view = said.get('view') || (state.moment === null ? firstView(kind) : 'moment');
  if (!kind || !viewsOf(kind).includes(state.view) || (state.view === 'moment' && state.moment === null))
    state.view = firstView(kind);
  state.unit = said.get('unit') === 'blocks' ? 'blocks' : 'bytes';
  state.invert = said.get('invert') === '1';
  state.find = said.get('find') || '';
  state.zoom = numberIn(said.get('zoom'), 1e9, 0);
  state.open = new Set((said.get('open') || '').split(',').map((n) => numberIn(n, 1e9, -1)).filter((n) => n >= 0));
  state.sort = said.get('sort') || '';
  state.theme = ['light', 'dark'].includes(said.get('theme')) ? said.get('theme') : '';
  state.rows = ROWS_AT_FIRST;
}

function addressOf() {
  const said = new URLSearchParams();
  const put = (name, text, otherwise) => String(text) !== String(otherwise) && said.set(name, text);

  put('kind', state.kind, 0);
  put('view', state.view, firstView(data.kinds[state.kind]));
  put('unit', state.unit, 'bytes');
  if (state.moment !== null)
    said.set('moment', state.moment);
  put('invert', state.invert ? 1 : 0, 0);
  put('find', state.find, '');
  put('zoom', state.zoom, 0);
  put('open', [...state.open].join(','), '');
  put('sort', state.sort, '');
  put('theme', state.theme, '');
  return '#' + said;
}

function writeAddress() {
  if (location.hash !== addressOf())
    history.replaceState(null, '', addressOf());
}

function drawRemarks() {
  const unknown = data.kinds.reduce((sum, kind) => sum + value(kind.unknown), 0);
  const reused = data.kinds.reduce((sum, kind) => sum + value(kind.reused), 0);
  const frameCount = frames.length, unnamed = frames.filter((frame) => frame.unnamed).length;
  const remarks = [];
  const add = (number, text) => number && remarks.push(grouped(number) + ' ' + text);

  add(unknown, 'releases of resources that were allocated before the trace began');
  add(reused, 'releases that were not seen: the same address was allocated again');
  add(value(data.cut), 'stacks that are deeper than the recorded frames (-b)');
  add(value(data.lost), 'stacks that could not be followed to their start');
  add(data.kinds_left_out, 'more kinds of resources, for which the page has no room');
  add(data.programs_left_out, 'more processes, whose calls are counted here, too');
  const folded = data.kinds.reduce((sum, kind) => sum + kind.rows.reduce((n, row) => n + row.folded, 0), 0);
  add(folded, 'stacks that are too small to be shown one by one; they are summed up where they branch off');
  if (unnamed * 2 > frameCount)
    remarks.push('Most functions have no names: install the debug symbols, or give their folder with --debug-path.');
  remarks.push(...data.notes);
  add(data.notes_left_out, 'more notes, which functrace-postproc TRACE prints');
  if (!remarks.length)
    return;
  const details = make('details'), list = make('ul');
  details.append(make('summary', '', counted(remarks.length, 'remark', 'remarks') + ' on this trace'));
  for (const remark of remarks)
    list.append(make('li', '', remark));
  details.append(list);
  byId('remarks').append(details);
}

function dateText(seconds) {
  const date = new Date(seconds * 1000);

  return isNaN(date) ? '' : date.toISOString().slice(0, 19).replace('T', ' ') + ' UTC';
}

// The processes' resident memory. It is not summed up, because processes may share memory.
function residentText(programs) {
  const known = programs.filter((program) => program.resident_peak !== undefined);
  const highest = known.reduce((most, program) => Math.max(most, value(program.resident_peak)), 0);

  if (!known.length)
    return 'resident memory unknown';
  return programs.length > 1 ? 'at most ' + human(highest) + ' resident in a process'
    : human(known[0].resident) + ' resident when last measured, ' + human(highest) + ' at the peak';
}

function drawHead() {
  const programs = data.programs, all = programs.length + data.programs_left_out;
  const name = programs.length ? programs[0].name : 'an empty trace', about = [];

  document.title = name + ' \u2013 functrace';
  byId('program').textContent = name;
  byId('program').title = name;
  if (all > 1) {
    about.push(counted(all, 'process', 'processes'));
    byId('about').title = programs.map((program) => program.name).join('\n');
  } else if (programs.length && programs[0].pid !== undefined) {
    about.push('process ' + programs[0].pid);
  }
  if (programs.some((program) => program.attached))
    about.push('attached to while it ran');
  if (data.begin)
    about.push(dateText(data.begin));
  about.push(counted(data.events, 'event', 'events') +
    (data.has_times && data.end ? ' within ' + spanText(data.end) : ''));
  about.push(residentText(programs));
  byId('selection').hidden = !data.selection;
  byId('selection').textContent = data.selection ? 'Only what these options select: ' + data.selection : '';
  if (data.incomplete)
    byId('ends').append(make('li', '', 'Incomplete: ' + data.incomplete));
  byId('ends').append(...data.ends.map((end) => make('li', '', capital(end))));
  if (data.ends_left_out)
    byId('ends').append(make('li', '', 'And ' + counted(data.ends_left_out, 'more process', 'more processes') + ' that did not end with status 0'));
  byId('ends').hidden = !data.ends.length && !data.incomplete;
  byId('about').textContent = about.filter(Boolean).join('  \u00b7  ');
  byId('made').textContent = 'Made by ' + data.generator + '.';
  drawRemarks();
}

function drawKinds() {
  const place = byId('kinds');

  const isUsed = (kind, i) => i === state.kind || value(kind.allocated[0]) || value(kind.released);

  place.hidden = data.kinds.filter(isUsed).length < 2;
  place.textContent = '';
  data.kinds.forEach((kind, i) => {
    if (!isUsed(kind, i))
      return;
    const button = make('button', 'kind');
    const figure = kind.is_call ? kind.allocated : kind.live;
    const text = kind.has_bytes ? human(figure[1]) : counted(figure[0], kind.one, kind.many);

    button.type = 'button';
    button.dataset.kind = i;
    button.title = kind.desc;
    button.setAttribute('aria-pressed', String(i === state.kind));
    button.append(make('span', 'type', kind.type), make('span', 'amount', text + (kind.is_call ? '' : ' alive')));
    if (!kind.is_call && kind.blocks.length)
      button.append(sparkline(kind));
    place.append(button);
  });
}

function makeCard(kind, view, number) {
  const figure = figureOfView(kind, view), card = make('button', 'card');
  let title = kind.is_call ? 'Calls' : VIEW_TITLES[view];

  card.type = 'button';
  card.id = 'card-' + view;
  card.dataset.view = view;
  card.title = VIEW_HELP[view] + ' (' + number + ')';
  card.setAttribute('aria-pressed', String(view === state.view));
  if (view === 'moment' && figure)
    title = 'Alive at ' + spanText(momentTime(state.moment));
  card.append(make('span', 'title', title));
  if (!figure) {
    card.append(make('span', 'big none', '\u2013'), make('span', 'exact', 'pick a moment below'));
    return card;
  }
  if (view === 'grown') {
    const growth = growthOf(kind.live, kind.old), main = growth[kind.has_bytes ? 1 : 0], much = Math.abs(main);

    card.append(make('span', 'big', (main < 0 ? '\u2212' : main > 0 ? '+' : '') + (kind.has_bytes ? human(much) : shortCount(much))),
      make('span', 'exact', growthText(kind, growth)), make('span', 'exact', 'than ' + data.compared));
    return card;
  }
  card.append(make('span', 'big', kind.has_bytes ? human(figure[1]) : shortCount(figure[0])));
  if (kind.has_bytes)
    card.append(make('span', 'exact', counted(figure[1], 'byte', 'bytes')));
  card.append(make('span', 'exact', counted(figure[0], kind.one, kind.many)));
  return card;
}

function drawCards(kind) {
  byId('cards').textContent = '';
  byId('cards').append(...viewsOf(kind).map((view, i) => makeCard(kind, view, i + 1)));
}

// Shows how many of the live blocks are lost or reachable, according to scans.
function drawScan(kind) {
  const place = byId('scan'), parts = [];
  const add = (figure, text) => {
    const part = make('li', '', figureText(kind, figure) + ' ');
    part.append(make('b', '', text[0]), text[1]);
    parts.push(part);
  };

  place.textContent = '';
  if (kind.scan) {
    const all = kind.scan.classes.concat({figure: kind.not_scanned}, {figure: kind.since_scan}).map((c) => c.figure);
    const lost = all.reduce((sum, f) => [sum[0] + value(f[0]), sum[1] + value(f[1])], [0, 0]);
    const texts = {
      definitely: ['definitely lost', ': no pointer leads to them'],
      indirectly: ['indirectly lost', ': only lost blocks lead to them'],
      possibly: ['possibly lost', ': reached only through an interior pointer, or perhaps from memory not copied'],
    };

    if (!value(kind.lost[0]))
      add([0, 0], texts.definitely);
    kind.scan.classes.forEach((c) => add(c.figure, texts[c.name]));
    add([value(kind.live[0]) - lost[0], value(kind.live[1]) - lost[1]], ['still reachable', '']);
    if (value(kind.since_scan[0]))
      add(kind.since_scan, ['unknown', ': allocated after the scan']);
    if (value(kind.not_scanned[0]))
      add(kind.not_scanned, ['unknown', ': in processes that were not scanned']);
  }
  if (kind.why_unscanned)
    parts.push(make('li', '', 'The lost blocks of ' + kind.unscanned + ' are unknown: ' + kind.why_unscanned));
  place.append(...parts);
  place.hidden = !parts.length;
}

function isMain(kind) {
  return kind.has_bytes && state.unit === 'bytes' ? 'bytes' : 'blocks';
}

// For each box, 1 if it is the zoomed box or inside that box.
function insideOf(flame, zoom) {
  const inside = new Uint8Array(flame.parent.length);

  for (let box = 0; box < inside.length; box++)
    inside[box] = box === zoom || (box > 0 && inside[flame.parent[box]]) ? 1 : 0;
  return inside;
}

function chosenRows(kind, flame, found) {
  const inside = state.zoom ? insideOf(flame, state.zoom) : null;
  const hit = found ? new Uint8Array(flame.parent.length) : null;

  if (hit)
    for (let box = 1; box < hit.length; box++)
      hit[box] = hit[flame.parent[box]] || found.fns[flame.fn[box]] ? 1 : 0;
  return kind.rows.filter((row, i) => (!inside || inside[flame.leaf[i]]) && (!hit || hit[flame.leaf[i]]));
}

function drawFound(kind) {
  const {found, weights, flame, zoom} = scene;
  const place = byId('found'), parts = [];

  if (zoom)
    parts.push('Only stacks through ' + boxName(flame, zoom) + ': ' +
      figureText(kind, [scene.weighed.blocks[zoom], scene.weighed.bytes[zoom]]) + ', ' +
      percent(weights[zoom], weights[0]) + '.');
  if (found && !found.outermost.length)
    parts.push('\u201c' + state.find + '\u201d is in no stack.');
  else if (found)
    parts.push('Found in stacks with ' + figureText(kind, [found.sum(scene.weighed.blocks),
      found.sum(scene.weighed.bytes)]) + ', ' + percent(found.sum(weights), weights[0]) + '.');
  place.textContent = parts.join(' ');
}

function drawPictures(kind) {
  const flame = flameOf(kind, state.invert);

  if (state.zoom >= flame.parent.length)
    state.zoom = 0;
  const weighed = weigh(flame, kind, state.view, state.moment);
  const found = search(flame, state.find);
  scene = {kind, flame, weighed, weights: weighed[isMain(kind)], zoom: state.zoom, found, boxes: []};
  const isEmpty = !weighed.blocks[0];
  const title = kind.is_call ? 'Calls' : state.view === 'grown' ? 'Alive at the end, compared to ' + data.compared : state.view === 'moment' ? 'Alive at ' + spanText(momentTime(state.moment))
    : VIEW_TITLES[state.view];

  byId('flame-title').textContent = title + (state.invert ? ', from the allocating functions to their callers'
    : ', from callers to the functions they call');
  byId('flame').classList.toggle('empty', isEmpty);
  if (isEmpty) {
    byId('flame').textContent = EMPTY[state.view];
    byId('flame').style.height = '';
    byId('legend').textContent = '';
    scene.boxes = [];
  } else {
    drawFlame(scene);
  }
  drawFound(kind);
  const rows = chosenRows(kind, flame, found);
  const shown = drawTable(kind, rows, [weighed.blocks[0], weighed.bytes[0]]);
  byId('groups-title').textContent = title + ', by stack';
  byId('groups-part').hidden = !shown;
}

function drawTools(kind) {
  byId('unit').hidden = !kind.has_bytes;
  byId('unit').textContent = state.unit === 'bytes' ? 'By bytes' : 'By ' + kind.many;
  byId('unit').title = 'whether widths stand for bytes or ' + kind.many + ' (b)';
  byId('invert').setAttribute('aria-pressed', String(state.invert));
  byId('invert').title = 'from the allocating functions to their callers (i)';
  byId('reset').hidden = !state.zoom;
  if (byId('find').value !== state.find)
    byId('find').value = state.find;
  byId('theme').textContent = {'': 'Auto', light: 'Light', dark: 'Dark'}[state.theme];
}

function draw() {
  const kind = data.kinds[state.kind];

  document.documentElement.dataset.theme = state.theme;
  hideTip();
  if (!kind) {
    for (const section of document.querySelectorAll('main > *'))
      section.hidden = true;
    document.querySelector('main').append(make('p', 'nothing', 'The trace has no events.'));
    return;
  }
  drawKinds();
  drawCards(kind);
  drawScan(kind);
  drawTools(kind);
  byId('time-part').hidden = kind.is_call || !kind.blocks.length;
  byId('time-title').textContent = data.has_times ? 'Over time' : 'Over the calls';
  if (!byId('time-part').hidden)
    drawTime(kind, state.moment);
  drawPictures(kind);
  drawSpread(kind);
  drawThreads(kind);
  writeAddress();
}

// Changes the state and shows it.
function change(changes) {
  const forgetsZoom = 'kind' in changes || 'invert' in changes;

  Object.assign(state, forgetsZoom ? {zoom: 0} : {}, changes);
  if ('kind' in changes) {
    state.open.clear();
    state.rows = ROWS_AT_FIRST;
    if (!viewsOf(data.kinds[state.kind]).includes(state.view) || data.kinds[state.kind].is_call)
      state.view = firstView(data.kinds[state.kind]);
  }
  draw();
}

function pickMoment(moment) {
  change({moment, view: 'moment'});
}

function pickView(view) {
  if (viewsOf(data.kinds[state.kind]).includes(view))
    change(view === 'moment' && state.moment === null ? {view, moment: data.moment_count - 1} : {view});
}
