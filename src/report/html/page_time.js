// Draws the live bytes over time, below them the live blocks, and below those the resident memory, if the trace has it.
// The user can pick a moment.

const TIME = {left: 8, right: 8, bytes: 132, blocks: 56, resident: 40, gap: 20, axis: 24, top: 18};

function momentTime(moment) {
  return Math.min(moment * data.moment_width, data.end);
}

function nearestMoment(since) {
  return Math.max(0, Math.min(data.moment_count - 1, Math.round(since / data.moment_width)));
}

// The greatest of many values.
function most(values) {
  return values.reduce((greatest, v) => Math.max(greatest, value(v)), 0);
}

// The SVG path of a step curve: each value over its span. null: the value is not known yet.
function steps(values, x, y) {
  let path = '', last = y(0);

  values.forEach((v, i) => {
    if (v === null)
      return;
    const at = y(value(v)), to = x(Math.min((i + 1) * data.span_width, data.end));
    if (!path)
      path += 'M' + x(i * data.span_width).toFixed(1) + ' ' + at.toFixed(1);
    else if (at !== last)
      path += 'V' + at.toFixed(1);
    path += 'H' + to.toFixed(1);
    last = at;
  });
  return path;
}

function drawPanel(svg, panel) {
  const {values, x, top, height, name, label} = panel;
  const greatest = most(values) || 1;
  const y = (v) => top + height - height * v / greatest;
  const line = steps(values, x, y), begin = Math.max(0, values.findIndex((v) => v !== null)) * data.span_width;

  for (const part of [0, 0.5, 1])
    svg.append(makeSvg('line', {class: part ? 'rule' : 'rule base', x1: x(0), x2: x(data.end), y1: y(part * greatest),
      y2: y(part * greatest)}));
  svg.append(makeSvg('path', {class: 'area ' + name,
    d: line + 'V' + (top + height) + 'H' + x(begin).toFixed(1) + 'Z'}));
  svg.append(makeSvg('path', {class: 'edge ' + name, d: line}));
  svg.append(makeSvg('text', {class: 'scale', x: x(0) + 4, y: top - 5}, label));
  return y;
}

// A round distance between marks, which divides `end` into at most `count` parts.
function niceStep(end, count) {
  const raw = end / count, power = 10 ** Math.floor(Math.log10(raw));

  return Math.max(data.has_times ? 0 : 1, power * [1, 2, 5, 10].find((step) => step * power >= raw));
}

function drawAxis(svg, x, bottom, width) {
  if (!data.end)
    return;
  const step = niceStep(data.end, Math.max(3, Math.floor(width / 130)));
  for (let since = 0; since <= data.end; since += step) {
    const at = x(since), isLast = at > width - 40;

    svg.append(makeSvg('line', {class: 'mark', x1: at, x2: at, y1: bottom, y2: bottom + 5}));
    svg.append(makeSvg('text', {class: 'axis', x: at, y: bottom + 18,
      'text-anchor': !since ? 'start' : isLast ? 'end' : 'middle'}, since ? spanText(since) : 'start'));
  }
}

function drawPeak(svg, kind, x, y, width) {
  if (kind.peak_since === undefined || !kind.has_bytes || !value(kind.peak[1]))
    return;
  const at = x(Math.min(kind.peak_since, data.end)), high = y(value(kind.peak[1])), isRight = at > width - 140;
  svg.append(makeSvg('circle', {class: 'peak', cx: at, cy: high, r: 3.5}));
  svg.append(makeSvg('text', {class: 'peak-text', x: at + (isRight ? -8 : 8), y: TIME.top - 5,
    'text-anchor': isRight ? 'end' : 'start'}, 'peak ' + human(kind.peak[1])));
}

function momentText(kind, moment) {
  return spanText(momentTime(moment)) + ': ' + figureText(kind, sumRows(kind.rows, 'moment', moment));
}

let timeX = null;

function drawTime(kind, picked) {
  const place = byId('time'), width = Math.max(240, place.clientWidth || 800);
  const hasBytes = kind.has_bytes, bytesHeight = hasBytes ? TIME.bytes : 0;
  const blocksTop = TIME.top + bytesHeight + (hasBytes ? TIME.gap : 0);
  const blocksHeight = hasBytes ? TIME.blocks : TIME.bytes;
  const resident = kind.type === 'memory' && data.resident && data.resident.some((v) => v !== null) ? data.resident : null;
  const residentTop = blocksTop + blocksHeight + TIME.gap;
  const bottom = resident ? residentTop + TIME.resident : blocksTop + blocksHeight, height = bottom + TIME.axis;
  const x = (since) => TIME.left + (width - TIME.left - TIME.right) * (data.end ? since / data.end : 0);
  const svg = makeSvg('svg', {width, height, viewBox: '0 0 ' + width + ' ' + height, 'aria-hidden': 'true'});

  timeX = x;
  place.textContent = '';
  if (hasBytes) {
    const values = kind.most || kind.bytes;
    const y = drawPanel(svg, {values, x, top: TIME.top, height: TIME.bytes, name: 'bytes',
      label: human(most(values)) + ' alive'});
    drawPeak(svg, kind, x, y, width);
  }
  drawPanel(svg, {values: kind.blocks, x, top: blocksTop, height: blocksHeight, name: 'blocks',
    label: counted(most(kind.blocks), kind.one, kind.many)});
  if (resident)
    drawPanel(svg, {values: resident, x, top: residentTop, height: TIME.resident, name: 'resident',
      label: human(most(resident)) + ' resident'});
  drawAxis(svg, x, bottom, width);
  svg.append(makeSvg('line', {id: 'pointer', y1: TIME.top, y2: bottom, x1: -9, x2: -9}));
  if (picked !== null) {
    const at = x(momentTime(picked));
    svg.append(makeSvg('line', {class: 'picked', x1: at, x2: at, y1: TIME.top - 8, y2: bottom}));
    svg.append(makeSvg('circle', {class: 'picked', cx: at, cy: bottom, r: 5}));
  }
  place.append(svg);
  place.setAttribute('aria-label', 'moment whose live blocks are shown');
  place.setAttribute('aria-valuemin', '0');
  place.setAttribute('aria-valuemax', String(data.moment_count - 1));
  place.setAttribute('aria-valuenow', String(picked === null ? data.moment_count - 1 : picked));
  place.setAttribute('aria-valuetext', picked === null ? 'none picked' : momentText(kind, picked));
  byId('time-note').textContent = picked === null ? 'Click, or use the arrow keys, to see the resources that were alive at a moment.'
    : momentText(kind, picked);
}

function pointedMoment(event) {
  const box = byId('time').getBoundingClientRect();
  const inner = timeX(data.end) - timeX(0);

  return inner > 0 ? nearestMoment((event.clientX - box.left - timeX(0)) / inner * data.end) : 0;
}

function movePointer(moment) {
  const line = byId('pointer'), at = moment === null ? -9 : timeX(momentTime(moment));

  if (line)
    for (const end of ['x1', 'x2'])
      line.setAttribute(end, at);
}

// A small picture for a kind's button.
function sparkline(kind) {
  const values = kind.has_bytes ? kind.most || kind.bytes : kind.blocks;
  const svg = makeSvg('svg', {class: 'spark', width: 72, height: 20, viewBox: '0 0 72 20', 'aria-hidden': 'true'});
  const greatest = most(values) || 1;
  const line = steps(values, (since) => 72 * (data.end ? since / data.end : 0), (v) => 19 - 17 * v / greatest);

  svg.append(makeSvg('path', {class: 'area bytes', d: line + 'V20H0Z'}));
  return svg;
}
