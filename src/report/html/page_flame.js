// Draws the flame graph: from the outermost function down to the allocating function, or inverted.

const ROW_HEIGHT = 20, BOXES_MAX = 5000, SHARE_MIN = 0.0008;
const TEXT_MIN = 26; // pixels: narrower boxes have no name
const HUES = [24, 205, 140, 265, 52, 330, 175, 95, 230, 0, 290, 115];

const PARTIAL = ['', '(deeper than what was recorded)', '(could not be followed further)', ''];

const hueOf = new Map();

// The colour of an object. The first objects get the colours that differ most.
function hue(object) {
  if (!hueOf.has(object))
    hueOf.set(object, HUES[hueOf.size % HUES.length]);
  return hueOf.get(object);
}

// Functions are the same if they have the same name in the same object, whatever the line.
const functions = {number: new Map(), name: [], object: [], frame: []};

function functionNumber(name, object, frame) {
  const key = name + '\u0000' + object;
  let number = functions.number.get(key);

  if (number === undefined) {
    number = functions.name.length;
    functions.number.set(key, number);
    functions.name.push(name);
    functions.object.push(object);
    functions.frame.push(frame);
  }
  return number;
}

const functionOfFrame = frames.map((frame) => functionNumber(frame.name, frame.object, frame));

function childOf(flame, parent, fn) {
  const key = parent * functionsMax + fn;
  let child = flame.children.get(key);

  if (child === undefined) {
    child = flame.parent.length;
    flame.children.set(key, child);
    flame.parent.push(parent);
    flame.fn.push(fn);
  }
  return child;
}

let functionsMax = 0;

function leafFunction(row) {
  return functionNumber(row.folded ? counted(row.folded, 'smaller stack', 'smaller stacks') : row.name, '', null);
}

// The boxes of a kind, outer ones before inner ones, and the innermost box of each row.
function makeFlame(kind, inverted) {
  const leaves = kind.rows.map(leafFunction);
  const flame = {parent: [0], fn: [-1], children: new Map(), leaf: []};

  PARTIAL.forEach((name) => functionNumber(name, '', null));
  functionsMax = functions.name.length;
  kind.rows.forEach((row, i) => {
    const path = [];

    for (let node = row.node; node; node = nodes.caller[node])
      path.push(functionOfFrame[nodes.frame[node]]);
    path.unshift(leaves[i]);
    // A stack whose outer part is unknown is drawn beside those that begin at the start of their thread.
    if (PARTIAL[row.end])
      path.push(functionNumber(PARTIAL[row.end], '', null));
    if (!inverted)
      path.reverse();
    flame.leaf.push(path.reduce((box, fn) => childOf(flame, box, fn), 0));
  });
  flame.children = null;
  flame.inside = flame.parent.map(() => []);
  for (let box = 1; box < flame.parent.length; box++)
    flame.inside[flame.parent[box]].push(box);
  return flame;
}

function flameOf(kind, inverted) {
  const i = inverted ? 1 : 0;

  if (!kind.flames[i])
    kind.flames[i] = makeFlame(kind, inverted);
  return kind.flames[i];
}

// Blocks and bytes of each box.
function weigh(flame, kind, view, moment) {
  const weighed = weighBy(flame, kind, (row) => rowFigure(row, view, moment));

  return view === 'grown' ? {...weighed, old: weighBy(flame, kind, (row) => row.old)} : weighed;
}

function weighBy(flame, kind, figureOf) {
  const blocks = new Float64Array(flame.parent.length), bytes = new Float64Array(flame.parent.length);

  kind.rows.forEach((row, i) => {
    const figure = figureOf(row);
    blocks[flame.leaf[i]] += value(figure[0]);
    bytes[flame.leaf[i]] += value(figure[1]);
  });
  for (let box = flame.parent.length - 1; box > 0; box--) {
    blocks[flame.parent[box]] += blocks[box];
    bytes[flame.parent[box]] += bytes[box];
  }
  return {blocks, bytes};
}

// The growth of a box: [blocks, bytes]; negative if it has less than before.
function boxGrowth(weighed, box) {
  return [weighed.blocks[box] - weighed.old.blocks[box], weighed.bytes[box] - weighed.old.bytes[box]];
}

// The greatest growth or shrinkage of any box that is drawn. That box has the full colour.
function greatestGrowth(scene) {
  const main = scene.weights === scene.weighed.bytes ? 1 : 0;

  return scene.boxes.reduce((most, [box]) => Math.max(most, Math.abs(boxGrowth(scene.weighed, box)[main])), 1);
}

// As in a differential flame graph: red has grown, blue has shrunk; a deeper colour is a greater difference.
function colourByGrowth(element, scene, box) {
  const main = scene.weights === scene.weighed.bytes ? 1 : 0, growth = boxGrowth(scene.weighed, box)[main];

  element.classList.add(growth > 0 ? 'grew' : growth < 0 ? 'shrank' : 'plain');
  element.style.setProperty('--much', Math.max(0.12, Math.sqrt(Math.abs(growth) / scene.mostGrowth)).toFixed(3));
}

function boxName(flame, box) {
  return box ? functions.name[flame.fn[box]] : 'all';
}

// Where to draw boxes: [box, depth, left, width], from the zoomed box inwards, with its callers above it.
function layOut(flame, weights, zoom) {
  const above = [], boxes = [], pending = [];

  for (let box = zoom; box; box = flame.parent[box])
    above.unshift(flame.parent[box]);
  above.forEach((box, depth) => boxes.push([box, depth, 0, 1]));
  pending.push([zoom, above.length, 0, 1]);
  while (pending.length && boxes.length < BOXES_MAX) {
    const [box, depth, left, width] = pending.pop();
    let at = left;

    boxes.push([box, depth, left, width]);
    const inside = flame.inside[box].filter((child) => weights[child] > 0), entries = [];
    inside.sort((a, b) => weights[b] - weights[a] || a - b);
    for (const child of inside) {
      const share = width * weights[child] / weights[box];

      if (share < SHARE_MIN)
        break;
      entries.push([child, depth + 1, at, share]);
      at += share;
    }
    // The greatest box, which is leftmost, is next.
    pending.push(...entries.reverse());
  }
  return boxes;
}

function isFound(fn, wanted) {
  const frame = functions.frame[fn];

  return functions.name[fn].toLowerCase().includes(wanted) || functions.object[fn].toLowerCase().includes(wanted) ||
    (frame !== null && frame.file.toLowerCase().includes(wanted));
}

// The functions whose name, object or file contains a text, and their boxes that are inside no other such box.
function search(flame, text) {
  const wanted = text.trim().toLowerCase();

  if (!wanted)
    return null;
  const fns = functions.name.map((_, fn) => isFound(fn, wanted));
  const covered = new Uint8Array(flame.parent.length), outermost = [];
  for (let box = 1; box < flame.parent.length; box++) {
    const isOwn = fns[flame.fn[box]];

    if (isOwn && !covered[flame.parent[box]])
      outermost.push(box);
    covered[box] = isOwn || covered[flame.parent[box]] ? 1 : 0;
  }
  return {fns, outermost, sum: (weights) => outermost.reduce((sum, box) => sum + weights[box], 0)};
}

function boxText(kind, box, flame, weighed) {
  const text = boxName(flame, box) + ': ' + figureText(kind, [weighed.blocks[box], weighed.bytes[box]]);

  return weighed.old ? text + ', ' + growthText(kind, boxGrowth(weighed, box)) + ' than before' : text;
}

function makeBox(scene, [box, depth, left, width], pixels) {
  const {flame, weighed, kind, found} = scene;
  const fn = flame.fn[box];
  const element = make('div', 'box', width * pixels < TEXT_MIN ? '' : boxName(flame, box));

  element.style.left = 100 * left + '%';
  element.style.width = 100 * width + '%';
  element.style.top = depth * ROW_HEIGHT + 'px';
  if (scene.weighed.old) {
    colourByGrowth(element, scene, box);
  } else if (box && functions.object[fn]) {
    element.style.setProperty('--hue', hue(functions.object[fn]) + (fn * 7 % 5 - 2) * 6);
    element.classList.add('shade' + fn % 3);
  } else {
    element.classList.add('plain');
  }
  if (found)
    element.classList.add(box && found.fns[fn] ? 'hit' : 'dim');
  if (box === scene.zoom && box)
    element.classList.add('zoomed');
  element.dataset.box = box;
  element.setAttribute('role', 'treeitem');
  element.setAttribute('aria-level', depth + 1);
  element.setAttribute('aria-label', boxText(kind, box, flame, weighed));
  element.tabIndex = -1;
  return element;
}

// scene: {flame, kind, weighed, weights, zoom, found}
function drawFlame(scene) {
  const place = byId('flame');

  place.textContent = '';
  scene.boxes = layOut(scene.flame, scene.weights, scene.zoom);
  const pixels = place.clientWidth || 1200;
  if (scene.weighed.old)
    scene.mostGrowth = greatestGrowth(scene);
  let depth = 0;
  for (const box of scene.boxes) {
    depth = Math.max(depth, box[1] + 1);
    place.append(makeBox(scene, box, pixels));
  }
  place.style.height = depth * ROW_HEIGHT + 'px';
  const first = place.querySelector('.zoomed') || place.firstChild;
  if (first)
    first.tabIndex = 0;
  drawLegend(scene);
}

function drawLegend(scene) {
  const shown = new Map();

  for (const [box, , , width] of scene.boxes)
    if (box && functions.object[scene.flame.fn[box]]) {
      const object = functions.object[scene.flame.fn[box]];
      shown.set(object, (shown.get(object) || 0) + width);
    }
  const legend = byId('legend');
  legend.textContent = '';
  if (scene.weighed.old) {
    for (const [name, text] of [['grew', 'more than before'], ['plain', 'as before'], ['shrank', 'less than before']])
      legend.append(make('span', 'growth ' + name, text));
    legend.append(make('span', '', 'The width of a box shows the resources alive now; the deeper its colour, the greater the difference.'));
    return;
  }
  const objects = [...shown].sort((a, b) => b[1] - a[1]);
  for (const [object] of objects.slice(0, 8)) {
    const item = make('span', 'object', baseName(object));

    item.style.setProperty('--hue', hue(object));
    item.title = object;
    legend.append(item);
  }
  if (objects.length > 8)
    legend.append(make('span', '', 'and ' + counted(objects.length - 8, 'more object', 'more objects')));
}

// The box to which an arrow key leads from a drawn box.
function boxBeside(scene, box, key) {
  const drawn = new Map(scene.boxes.map((entry) => [entry[0], entry]));
  const own = drawn.get(box);

  if (!own)
    return 0;
  if (key === 'ArrowUp')
    return box ? scene.flame.parent[box] : 0;
  const row = scene.boxes.filter((entry) => entry[1] === own[1]).sort((a, b) => a[2] - b[2]);
  if (key === 'ArrowDown') {
    const inside = scene.boxes.filter((entry) => entry[0] && entry[0] !== box &&
      scene.flame.parent[entry[0]] === box).sort((a, b) => b[3] - a[3]);
    return inside.length ? inside[0][0] : box;
  }
  const at = row.indexOf(own) + (key === 'ArrowRight' ? 1 : -1);
  return row[at] ? row[at][0] : box;
}
