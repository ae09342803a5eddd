'use strict';
// The page's data, as page_data.h describes them, and texts for figures.

const data = JSON.parse(document.getElementById('data').textContent);
const NO_STACK = 3;
const INLINED = 1, UNNAMED = 2, STANDARD = 4;
const VIEWS = [...(data.compared ? ['grown'] : []), 'live', 'peak', 'allocated', 'temporary', 'moment'];
const LOST_CLASSES = ['definitely', 'indirectly', 'possibly'];

function frameOf(number) {
  const at = 6 * number, f = data.frames;
  return {
    name: data.names[f[at]], object: data.names[f[at + 1]], file: data.names[f[at + 2]], line: f[at + 3],
    inlined: (f[at + 4] & INLINED) !== 0, unnamed: (f[at + 4] & UNNAMED) !== 0,
    standard: (f[at + 4] & STANDARD) !== 0, source: data.names[f[at + 5]],
  };
}

const frames = [];
for (let i = 0; i < data.frames.length / 6; i++)
  frames.push(frameOf(i));

// Node 0 is the root.
const nodes = {caller: [0], frame: [-1]};
for (let i = 0; i < data.nodes.length; i += 2) {
  nodes.caller.push(data.nodes[i]);
  nodes.frame.push(data.nodes[i + 1]);
}

// Numbers that JavaScript would round are strings.
function value(number) {
  return +number;
}

// Converts [blocks, bytes] of each class. lost: definitely and indirectly lost blocks; classes: those with blocks.
function lostOf(numbers) {
  const l = numbers || [0, 0, 0, 0, 0, 0];

  return {
    lost: [value(l[0]) + value(l[2]), value(l[1]) + value(l[3])], possibly: [l[4], l[5]],
    classes: LOST_CLASSES.map((name, i) => ({name, figure: [l[2 * i], l[2 * i + 1]]})).filter((c) => value(c.figure[0])),
  };
}

function makeRow(numbers, index) {
  return {
    ...lostOf(numbers[18]),
    index, node: numbers[0], name: data.names[numbers[1]], folded: value(numbers[2]), end: numbers[3],
    allocated: [numbers[4], numbers[5]], live: [numbers[6], numbers[7]], peak: [numbers[8], numbers[9]],
    temporary: [numbers[10], numbers[11]], released: value(numbers[12]),
    life: numbers[13] === null ? null : value(numbers[13]),
    old: [numbers[19] || 0, numbers[20] || 0], grown: [numbers[6], numbers[7]],
    first: value(numbers[14]), greatestAge: value(numbers[15]), leastAge: value(numbers[16]), moments: numbers[17],
  };
}

for (const kind of data.kinds) {
  kind.rows = kind.rows.map(makeRow);
  kind.flames = [null, null];
  kind.grown = kind.live;
  kind.scan = kind.lost ? lostOf(kind.lost) : null;
}

// The live blocks of a row at a moment: [blocks, bytes].
function rowAt(row, moment) {
  const m = row.moments;
  let low = 0, high = m.length / 3;

  while (low < high) {
    const middle = (low + high) >> 1;
    if (m[3 * middle] <= moment)
      low = middle + 1;
    else
      high = middle;
  }
  return low ? [m[3 * low - 2], m[3 * low - 1]] : [0, 0];
}

function rowFigure(row, view, moment) {
  return view === 'moment' ? rowAt(row, moment) : row[view];
}

// The growth: [blocks, bytes]; negative if there is less than before.
function growthOf(now, old) {
  return [value(now[0]) - value(old[0]), value(now[1]) - value(old[1])];
}

// The sum is exact if it is below 2^53.
function sumRows(rows, view, moment) {
  let blocks = 0, bytes = 0;

  for (const row of rows) {
    const figure = rowFigure(row, view, moment);
    blocks += value(figure[0]);
    bytes += value(figure[1]);
  }
  return [blocks, bytes];
}

// The frames of a row, from the innermost function outwards.
function stackOf(row) {
  const stack = [];

  for (let node = row.node; node; node = nodes.caller[node])
    stack.push(frames[nodes.frame[node]]);
  return stack;
}

function baseName(path) {
  return path.slice(path.lastIndexOf('/') + 1);
}

function placeOf(frame) {
  if (frame.file)
    return baseName(frame.file) + ':' + frame.line;
  return frame.object ? baseName(frame.object) : '';
}

// 1234567 as 1,234,567.
function grouped(number) {
  return String(typeof number === 'number' ? Math.round(number) : number).replace(/\B(?=(\d{3})+$)/g, ',');
}

function counted(number, one, many) {
  return grouped(number) + ' ' + (String(number) === '1' ? one : many);
}

function human(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  let number = value(bytes), unit = 0;

  for (; number >= 1024 && unit < units.length - 1; unit++)
    number /= 1024;
  const isRound = !unit || number >= 100 || Number.isInteger(number);

  return (isRound ? Math.round(number) : number.toFixed(number < 10 ? 2 : 1)) + '\u00a0' + units[unit];
}

// A short text for a number of blocks.
function shortCount(number) {
  const n = value(number);

  if (n < 10000)
    return grouped(n);
  if (n < 1e6)
    return (n / 1e3).toFixed(n < 1e5 ? 1 : 0) + '\u00a0k';
  return n < 1e9 ? (n / 1e6).toFixed(1) + '\u00a0M' : (n / 1e9).toFixed(1) + '\u00a0G';
}

// A span of time, or a number of calls if the trace has no times.
function spanText(since) {
  if (!data.has_times)
    return counted(since, 'call', 'calls');
  const steps = [[1e3, 1, 'ns'], [1e6, 1e3, '\u00b5s'], [1e9, 1e6, 'ms'], [600e9, 1e9, 's'], [36000e9, 60e9, 'min']];
  for (const [below, unit, name] of steps)
    if (since < below)
      return trimmed(since / unit) + '\u00a0' + name;
  return trimmed(since / 3600e9) + '\u00a0h';
}

function trimmed(number) {
  return number >= 100 ? String(Math.round(number)) : String(+number.toPrecision(3));
}

function percent(part, whole) {
  if (!whole)
    return '0 %';
  const share = 100 * part / whole;
  return (share > 0 && share < 0.05 ? '<0.1' : share.toFixed(1)) + ' %';
}

// "+1,234", "\u22125", "0"
function signed(number) {
  return (number > 0 ? '+' : number < 0 ? '\u2212' : '') + grouped(Math.abs(number));
}

// "+1,234 bytes, +5 blocks"
function growthText(kind, growth) {
  const blocks = signed(growth[0]) + ' ' + (Math.abs(growth[0]) === 1 ? kind.one : kind.many);

  return kind.has_bytes ? signed(growth[1]) + ' ' + (Math.abs(growth[1]) === 1 ? 'byte' : 'bytes') + ', ' + blocks : blocks;
}

// "1,234 bytes in 5 blocks"
function figureText(kind, figure) {
  const blocks = counted(figure[0], kind.one, kind.many);

  return kind.has_bytes ? counted(figure[1], 'byte', 'bytes') + ' in ' + blocks : blocks;
}

// Names become text only, never HTML.
function make(tag, className, text) {
  const element = document.createElement(tag);

  if (className)
    element.className = className;
  if (text !== undefined)
    element.textContent = text;
  return element;
}

function byId(id) {
  return document.getElementById(id);
}

function makeSvg(tag, attributes, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);

  for (const name in attributes)
    element.setAttribute(name, attributes[name]);
  if (text !== undefined)
    element.textContent = text;
  return element;
}
