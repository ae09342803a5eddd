// Draws the groups as a table, each with its stack; the spread of sizes and lifetimes; the threads.

const ROWS_AT_FIRST = 20;

const COLUMNS = [
  {name: 'share', title: 'Share', sort: null},
  {name: 'bytes', title: 'Bytes', sort: (row, figure) => value(figure[1])},
  {name: 'grew', title: 'Grew by', sort: (row) => growthOf(row.live, row.old)[state.unit === 'bytes' ? 1 : 0]},
  {name: 'blocks', title: 'Blocks', sort: (row, figure) => value(figure[0])},
  {name: 'size', title: 'Mean size', sort: (row, figure) => value(figure[0]) ? value(figure[1]) / value(figure[0]) : 0},
  {name: 'life', title: 'Mean life', sort: (row) => row.released && row.life !== null ? row.life : -1},
  {name: 'class', title: 'Lost', sort: null},
  {name: 'where', title: 'Allocated by', sort: null},
];

function columnsOf(kind) {
  return COLUMNS.filter((column) => {
    if (column.name === 'bytes' || column.name === 'size')
      return kind.has_bytes;
    if (column.name === 'class')
      return state.view === 'lost';
    if (column.name === 'grew')
      return state.view === 'grown';
    return column.name !== 'life' || (!kind.is_call && state.view !== 'lost');
  });
}

function addPlace(to, frame) {
  const place = placeOf(frame);

  if (!place)
    return;
  const element = make('span', 'place', place);
  element.title = frame.file ? frame.file + ':' + frame.line + (frame.object ? '\n' + frame.object : '') : frame.object;
  to.append(' ', element);
}

// Adds where a row comes from: the innermost function outside of the standard libraries, and its callers on a second line.
function addWhere(cell, row) {
  const stack = stackOf(row);

  if (row.folded) {
    cell.append(make('span', 'name', counted(row.folded, 'smaller stack', 'smaller stacks') +
      (stack.length ? ' below ' + stack[0].name : '')));
    return;
  }
  const from = Math.max(0, stack.findIndex((frame) => !frame.standard));
  const first = make('div', 'first');
  first.append(make('span', 'name', stack.length ? stack[from].name : row.name));
  if (stack.length)
    addPlace(first, stack[from]);
  cell.append(first);
  const callers = stack.slice(from + 1, from + 7).map((frame) => frame.name).join(' \u2190 ');
  if (callers)
    cell.append(make('div', 'callers', '\u2190 ' + callers + (stack.length > from + 7 ? ' \u2190 \u2026' : '')));
  else if (row.end === NO_STACK)
    cell.append(make('div', 'callers', 'no stack was taken'));
}

function addFigure(list, name, text) {
  const item = make('div');

  item.append(make('dt', '', name), make('dd', '', text));
  list.append(item);
}

function addFigures(to, kind, row) {
  const list = make('dl');

  addFigure(list, kind.is_call ? 'Calls' : 'Allocated', figureText(kind, row.allocated));
  if (!kind.is_call) {
    addFigure(list, 'Alive at the end', figureText(kind, row.live));
    if (data.compared)
      addFigure(list, 'Alive before', figureText(kind, row.old));
    addFigure(list, 'Alive at the peak', figureText(kind, row.peak));
    addFigure(list, 'Temporary', figureText(kind, row.temporary));
    for (const {name, figure} of row.classes)
      addFigure(list, capital(name) + ' lost', figureText(kind, figure));
    if (row.released)
      addFigure(list, 'Released', counted(row.released, kind.one, kind.many) +
        (row.life === null ? '' : ' after ' + spanText(row.life) + ' on average'));
    if (value(row.live[0]))
      addFigure(list, 'Ages at the end', row.live[0] === 1 ? spanText(row.greatestAge)
        : spanText(row.leastAge) + ' to ' + spanText(row.greatestAge));
  }
  addFigure(list, 'First', 'at ' + spanText(row.first));
  to.append(list);
}

function addStack(to, row) {
  const list = make('ol', 'stack');
  const add = (name, frame) => {
    const item = make('li');

    item.append(make('span', 'name', name));
    if (frame) {
      addPlace(item, frame);
      if (frame.inlined)
        item.append(' ', make('span', 'inlined', 'inlined'));
      if (frame.source)
        item.append(make('code', '', frame.source));
    }
    list.append(item);
  };

  if (!row.folded)
    add(row.name, null);
  for (const frame of stackOf(row))
    add(frame.name, frame);
  to.append(list);
  const ends = ['', 'The stack is deeper than what was recorded (-b).', 'The stack could not be followed further.',
    'No stack was taken.'];
  if (row.folded)
    to.append(make('p', 'note', 'These stacks were too small to be shown one by one; they branch off below this one.'));
  else if (ends[row.end])
    to.append(make('p', 'note', ends[row.end]));
}

function addDetails(body, kind, row, columns) {
  const line = make('tr', 'details'), cell = make('td');

  cell.colSpan = columns.length;
  line.id = 'details-' + row.index;
  addFigures(cell, kind, row);
  addStack(cell, row);
  line.append(cell);
  body.append(line);
}

function addCell(line, column, kind, row, figure, sum) {
  const cell = make('td', column.name);
  const main = kind.has_bytes && state.unit === 'bytes' ? 1 : 0;

  if (column.name === 'share') {
    const bar = make('span', 'bar'), fill = make('span');

    fill.style.width = (sum[main] ? 100 * value(figure[main]) / sum[main] : 0) + '%';
    bar.append(fill);
    cell.append(bar, make('span', 'percent', percent(value(figure[main]), sum[main])));
  } else if (column.name === 'bytes') {
    cell.textContent = grouped(figure[1]);
  } else if (column.name === 'grew') {
    cell.textContent = signed(growthOf(row.live, row.old)[main]);
  } else if (column.name === 'blocks') {
    cell.textContent = grouped(figure[0]);
  } else if (column.name === 'size') {
    cell.textContent = value(figure[0]) ? grouped(value(figure[1]) / value(figure[0])) : '';
  } else if (column.name === 'life') {
    cell.textContent = !row.released ? 'none ended' : row.life === null ? 'unknown' : spanText(row.life);
  } else if (column.name === 'class') {
    cell.textContent = row.classes.map((c) => c.name).filter((name) => name !== 'possibly').join(', ');
  } else {
    addWhere(cell, row);
  }
  line.append(cell);
}

function addRow(body, kind, row, columns, sum) {
  const line = make('tr', 'group'), isOpen = state.open.has(row.index);
  const figure = rowFigure(row, state.view, state.moment);

  line.dataset.row = row.index;
  line.tabIndex = 0;
  line.setAttribute('aria-expanded', String(isOpen));
  for (const column of columns)
    addCell(line, column, kind, row, figure, sum);
  body.append(line);
  if (isOpen)
    addDetails(body, kind, row, columns);
}

function capital(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function drawTableHead(kind, columns, sort) {
  const head = byId('groups').tHead, line = make('tr');

  head.textContent = '';
  for (const column of columns) {
    const cell = make('th', column.name);

    if (column.sort) {
      const button = make('button', '', column.name === 'blocks' ? capital(kind.many) : column.title);
      button.type = 'button';
      button.dataset.sort = column.name;
      cell.append(button);
      if (column.name === sort)
        cell.setAttribute('aria-sort', 'descending');
    } else {
      cell.textContent = column.title;
    }
    line.append(cell);
  }
  head.append(line);
}

// rows: the rows of the kind that the search finds inside the zoomed box. whole: the sum of all rows of the kind.
function drawTable(kind, rows, whole) {
  const columns = columnsOf(kind), table = byId('groups');
  const sort = columns.some((column) => column.name === state.sort) ? state.sort
    : state.view === 'grown' ? 'grew' : kind.has_bytes ? state.unit : 'blocks';
  const key = columns.find((column) => column.name === sort).sort;
  const keyed = rows.map((row) => {
    const figure = rowFigure(row, state.view, state.moment);
    return {row, blocks: value(figure[0]), key: key(row, figure)};
  }).filter((entry) => entry.blocks || (state.view === 'grown' && value(entry.row.old[0])));
  const body = table.tBodies[0], foot = table.tFoot;

  keyed.sort((a, b) => b.key - a.key || b.blocks - a.blocks || a.row.index - b.row.index);
  drawTableHead(kind, columns, sort);
  body.textContent = foot.textContent = '';
  for (const {row} of keyed.slice(0, state.rows))
    addRow(body, kind, row, columns, whole);
  const sum = sumRows(keyed.map((entry) => entry.row), state.view, state.moment);
  const groups = keyed.reduce((count, {row}) => count + (row.folded || 1), 0);
  if (keyed.length) {
    const line = make('tr');
    for (const column of columns)
      line.append(make('td', column.name, column.name === 'bytes' ? grouped(sum[1])
        : column.name === 'blocks' ? grouped(sum[0]) : column.name === 'where' ? counted(groups, 'stack', 'stacks') +
          ' in all' : ''));
    foot.append(line);
  }
  table.hidden = !keyed.length;
  byId('more').hidden = keyed.length <= state.rows;
  byId('more').textContent = 'Show ' + grouped(Math.min(100, keyed.length - state.rows)) + ' more of ' +
    grouped(keyed.length - state.rows);
  return keyed.length;
}

function drawBars(place, title, entries) {
  place.textContent = '';
  if (!entries.length)
    return;
  const greatest = entries.reduce((g, entry) => Math.max(g, entry.count), 0);
  const table = make('table', 'bars');
  place.append(make('h2', '', title));
  for (const entry of entries) {
    const line = make('tr'), bar = make('td', 'bar-cell'), fill = make('span', 'fill');

    fill.style.width = 100 * entry.count / greatest + '%';
    bar.append(fill);
    line.append(make('th', '', entry.label), bar, make('td', 'count', grouped(entry.count)));
    table.append(line);
  }
  place.append(table);
}

function sizeLabel(exponent) {
  if (exponent < 2)
    return exponent ? '1 B' : '0 B';
  return human(2 ** (exponent - 1)) + ' to < ' + human(2 ** exponent);
}

// The first bucket ends at 1 microsecond, or at the next call. Each other bucket but the last ends at ten times its
// beginning.
function lifeLabel(exponent) {
  if (exponent === 13)
    return data.has_times ? spanText(1e15) + ' and more' : grouped(1e12) + ' calls and more';
  if (data.has_times)
    return exponent ? spanText(10 ** (exponent + 2)) + ' to < ' + spanText(10 ** (exponent + 3))
      : '< ' + spanText(1e3);
  return exponent ? grouped(10 ** (exponent - 1)) + ' to < ' + grouped(10 ** exponent) + ' calls' : 'at once';
}

function drawSpread(kind) {
  const sizes = [], lives = [];

  for (let i = 0; kind.has_bytes && i < kind.sizes.length; i += 3)
    sizes.push({label: sizeLabel(kind.sizes[i]), count: value(kind.sizes[i + 1])});
  for (let i = 0; i < kind.lives.length; i += 2)
    lives.push({label: lifeLabel(kind.lives[i]), count: value(kind.lives[i + 1])});
  drawBars(byId('sizes'), 'Sizes of all allocations', sizes);
  drawBars(byId('lives'), 'Lifetimes of released ' + kind.many, lives);
}

// The threads of a kind, those with the greatest figure in the shown view first. An entry without a tid has the blocks
// that no thread has allocated.
function threadsOf(kind) {
  const threads = [], t = kind.threads, main = kind.has_bytes && state.unit === 'bytes' ? 1 : 0;

  for (let i = 0; i < t.length; i += 8)
    threads.push({name: [t[i], t[i + 1]].filter(Boolean).join(' '), allocated: [t[i + 2], t[i + 3]],
      live: [t[i + 4], t[i + 5]], temporary: [t[i + 6], t[i + 7]]});
  const view = state.view === 'allocated' || state.view === 'temporary' ? state.view : 'live';
  return threads.sort((a, b) => value(b[view][main]) - value(a[view][main]));
}

// A single thread would only repeat the sums.
function drawThreads(kind) {
  const place = byId('threads'), threads = threadsOf(kind), table = make('table'), body = make('tbody');
  const main = kind.has_bytes && state.unit === 'bytes' ? 1 : 0, head = make('tr'), unit = main ? 'bytes' : kind.many;
  const columns = kind.is_call ? [['allocated', 'Calls']]
    : [['live', 'Alive at the end'], ['allocated', 'Allocated'], ['temporary', 'Temporary']];

  place.textContent = '';
  if (threads.length < 2)
    return;
  for (const [, title] of columns)
    head.append(make('th', '', title + (kind.is_call ? '' : ', ' + unit)));
  head.append(make('th', 'where', 'Thread'));
  for (const thread of threads) {
    const line = make('tr');

    for (const [name] of columns)
      line.append(make('td', '', grouped(thread[name][kind.is_call ? 0 : main])));
    line.append(make('td', 'where', thread.name));
    body.append(line);
  }
  const top = make('thead');
  top.append(head);
  table.append(top, body);
  place.append(make('h2', '', 'Threads'), table);
  if (value(kind.threads_left_out))
    place.append(make('p', 'note', 'And ' + counted(kind.threads_left_out, 'thread', 'threads') +
      ' that allocated less.'));
}
