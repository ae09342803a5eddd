// Handles the mouse and the keyboard, and starts the page.

const KEYS = [
  ['1 2 3 \u2026', 'the view, in the order of the cards from left to right: lost, alive, allocated, temporary'],
  ['\u2190 \u2192', 'on the time line: the previous moment, the next one'],
  ['\u2190 \u2192 \u2191 \u2193', 'in the flame graph: the next box, the caller, the called function'],
  ['Enter', 'zoom to the box; open or close a stack of the table'],
  ['/', 'find a function, a file or an object'],
  ['b', 'bytes or blocks'],
  ['i', 'inverted: from the allocating functions to their callers'],
  ['t', 'light, dark, or as the system has it'],
  ['Esc', 'reset the zoom, the search and the picked moment'],
  ['?', 'these keys'],
];

function hideTip() {
  byId('tip').hidden = true;
}

function showTip(lines, x, y) {
  const tip = byId('tip');

  tip.textContent = '';
  lines.filter(Boolean).forEach((line, i) => tip.append(make('div', i ? '' : 'name', line)));
  tip.hidden = false;
  const left = Math.max(4, Math.min(x + 14, document.documentElement.clientWidth - tip.offsetWidth - 8));
  const below = y + 18 + tip.offsetHeight < document.documentElement.clientHeight;
  tip.style.left = left + 'px';
  tip.style.top = Math.max(4, below ? y + 18 : y - tip.offsetHeight - 12) + 'px';
}

function tipOfBox(element, x, y) {
  const box = +element.dataset.box, {flame, weighed, weights, kind, zoom} = scene;
  const frame = box ? functions.frame[flame.fn[box]] : null;
  const shares = [percent(weights[box], weights[0]) + ' of all'];

  if (zoom && box !== zoom)
    shares.push(percent(weights[box], weights[zoom]) + ' of ' + boxName(flame, zoom));
  showTip([boxName(flame, box), figureText(kind, [weighed.blocks[box], weighed.bytes[box]]), shares.join(', '),
    weighed.old ? growthText(kind, boxGrowth(weighed, box)) + ' than before' : '',
    frame && frame.file ? frame.file : '', frame ? frame.object : ''], x, y);
}

function focusBox(box) {
  const element = byId('flame').querySelector('[data-box="' + box + '"]');

  if (!element)
    return;
  for (const other of byId('flame').querySelectorAll('[tabindex="0"]'))
    other.tabIndex = -1;
  element.tabIndex = 0;
  element.focus();
}

function zoomTo(box) {
  change({zoom: box});
  focusBox(box);
}

function listenToFlame() {
  const flame = byId('flame'), boxOf = (event) => event.target.closest('.box');

  flame.addEventListener('click', (event) => boxOf(event) && zoomTo(+boxOf(event).dataset.box));
  flame.addEventListener('mousemove', (event) => boxOf(event) && tipOfBox(boxOf(event), event.clientX, event.clientY));
  flame.addEventListener('mouseleave', hideTip);
  flame.addEventListener('focusin', (event) => {
    if (!boxOf(event) || !boxOf(event).matches(':focus-visible'))
      return;
    const place = boxOf(event).getBoundingClientRect();
    tipOfBox(boxOf(event), place.left, place.top);
  });
  flame.addEventListener('focusout', hideTip);
  flame.addEventListener('keydown', (event) => {
    const box = boxOf(event);

    if (!box)
      return;
    if (event.key === 'Enter' || event.key === ' ')
      zoomTo(+box.dataset.box);
    else if (event.key.startsWith('Arrow'))
      focusBox(boxBeside(scene, +box.dataset.box, event.key));
    else
      return;
    event.preventDefault();
  });
}

function listenToTime() {
  const time = byId('time');
  const steps = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -8, PageUp: 8, Home: -1e9, End: 1e9};

  time.addEventListener('click', (event) => pickMoment(pointedMoment(event)));
  time.addEventListener('mousemove', (event) => {
    const moment = pointedMoment(event);

    movePointer(moment);
    showTip([momentText(data.kinds[state.kind], moment)], event.clientX, event.clientY);
  });
  time.addEventListener('mouseleave', () => {
    movePointer(null);
    hideTip();
  });
  time.addEventListener('keydown', (event) => {
    if (!(event.key in steps))
      return;
    const from = state.moment === null ? data.moment_count : state.moment;

    event.preventDefault();
    pickMoment(Math.max(0, Math.min(data.moment_count - 1, from + steps[event.key])));
  });
}

function toggleRow(element) {
  const row = +element.dataset.row;

  if (!state.open.delete(row))
    state.open.add(row);
  change({});
  const again = byId('groups').querySelector('[data-row="' + row + '"]');
  if (again)
    again.focus({preventScroll: true});
}

function listenToTable() {
  const table = byId('groups');

  table.addEventListener('click', (event) => {
    const sort = event.target.closest('[data-sort]'), row = event.target.closest('tr.group');

    if (sort)
      change({sort: sort.dataset.sort});
    else if (row && !String(getSelection()))
      toggleRow(row);
  });
  table.addEventListener('keydown', (event) => {
    const row = event.target.closest('tr.group');

    if (!row || (event.key !== 'Enter' && event.key !== ' '))
      return;
    event.preventDefault();
    toggleRow(row);
  });
  byId('more').addEventListener('click', () => change({rows: state.rows + 100}));
}

function nextTheme() {
  change({theme: {'': 'light', light: 'dark', dark: ''}[state.theme]});
}

function showHelp() {
  const help = byId('help'), list = make('dl');

  help.textContent = '';
  for (const [keys, what] of KEYS) {
    const item = make('div');
    item.append(make('dt', '', keys), make('dd', '', what));
    list.append(item);
  }
  const close = make('button', '', 'Close');
  close.type = 'button';
  close.addEventListener('click', () => help.close());
  help.append(make('h2', '', 'Keys'), list, close);
  help.showModal();
}

function flipUnit() {
  change({unit: state.unit === 'bytes' ? 'blocks' : 'bytes', sort: ''});
}

function forget() {
  change({zoom: 0, find: '', moment: null, view: state.view === 'moment' ? firstView(data.kinds[state.kind]) : state.view});
}

function pressed(event) {
  const key = event.key, isTyping = event.target.matches && event.target.matches('input');

  if (event.ctrlKey || event.metaKey || event.altKey || byId('help').open || !data.kinds.length)
    return;
  if (key === 'Escape') {
    if (isTyping)
      event.target.blur();
    forget();
    return;
  }
  if (isTyping)
    return;
  const actions = {
    '/': () => byId('find').focus(), '?': showHelp, b: flipUnit, i: () => change({invert: !state.invert}),
    t: nextTheme,
  };
  if (/^[1-9]$/.test(key))
    pickView(viewsOf(data.kinds[state.kind])[key - 1]);
  else if (Object.hasOwn(actions, key))
    actions[key]();
  else
    return;
  event.preventDefault();
}

function listen() {
  const pick = (id, name, take) => byId(id).addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (button)
      take(button.dataset[name]);
  });
  let waiting = 0;

  pick('kinds', 'kind', (kind) => change({kind: +kind}));
  pick('cards', 'view', pickView);
  listenToFlame();
  listenToTime();
  listenToTable();
  byId('find').addEventListener('input', () => change({find: byId('find').value}));
  byId('unit').addEventListener('click', flipUnit);
  byId('invert').addEventListener('click', () => change({invert: !state.invert}));
  byId('reset').addEventListener('click', () => change({zoom: 0}));
  byId('theme').addEventListener('click', nextTheme);
  byId('help-button').addEventListener('click', showHelp);
  document.addEventListener('keydown', pressed);
  addEventListener('resize', () => {
    clearTimeout(waiting);
    waiting = setTimeout(draw, 100);
  });
  addEventListener('hashchange', () => {
    readAddress();
    draw();
  });
}

readAddress();
drawHead();
draw();
if (data.kinds.length)
  listen();
document.documentElement.dataset.ready = 'true';
