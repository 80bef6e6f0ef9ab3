// A page about one program: the graph evaluated and differentiated step by step, live, as a quiz, and in descent.
// Before this stand OPERATIONS, what `export --to javascript` prints of each operation: inputs to [value, partials].
"use strict";

const page = JSON.parse(document.getElementById("data").textContent);
const { nodes, order, output } = page;
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const point = { ...page.point };

// ---- numbers ------------------------------------------------------------------------------------------------------
// As C's %g: so many significant digits, no zeros at the end, an exponent of two digits for the very large and small.
function general(x, digits) {
  if (x === 0) return "0";
  const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
  if (exponent >= -4 && exponent < digits) return String(Number(x.toPrecision(digits)));
  return `${Number(mantissa)}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}
const written = (x) => (x === null || x === undefined ? "" : general(x, 5));
const isCondition = (k) => ["condition", "and", "or"].includes(nodes[k].kind);

// ---- units --------------------------------------------------------------------------------------------------------
// The page computes in coherent units of the SI; what is seen, typed and plotted is in the unit that it has. Which that
// is does not depend on the numbers. Without units, all are the number 1.
const ONE = { text: "", numerator: 1, denominator: 1, shift: 0 };
const scales = Object.fromEntries(Object.entries(page.scales ?? {}).map(([text, scale]) => [text, { text, ...scale }]));
const unitOf = (text) => (text === undefined || text === "1" ? ONE : scales[text]);
const ofNode = (k) => unitOf(page.units?.nodes[k].value);
const ofAdjoint = (k) => unitOf(page.units?.nodes[k].adjoint);
const ofPartial = (k, position) => unitOf(page.units?.nodes[k].partials[position]);
const ofVariable = (name) => unitOf(page.units?.point[name]);
const ofValue = unitOf(page.units?.value);
const fromSI = (x, unit) => (unit === ONE ? x : (x * unit.denominator - unit.shift) / unit.numerator);
const toSI = (x, unit) => (unit === ONE ? x : (x * unit.numerator + unit.shift) / unit.denominator);
// A number as text with its unit, as formulas have it, and a name with the unit of its numbers.
const withUnit = (text, unit) => (text && unit.text ? `${text} ${unit.text}` : text);
const measured = (x, unit) => withUnit(x === null || x === undefined ? "" : written(fromSI(x, unit)), unit);
const literal = (x, unit) => written(fromSI(x, unit)) + (unit.text && `[${unit.text}]`);
const headed = (name, unit) => (unit.text ? `${name} [${unit.text}]` : name);
const shown = (k, x, write = measured) => (isCondition(k) ? (x ? "true" : "false") : write(x, ofNode(k)));
// What is read of a number: it may be followed by its unit.
const UNREADABLE = "not a number: write 0.5, 1/3 or 1e-3";
const unreadable = (unit) => (unit.text ? UNREADABLE.replace(":", ` in ${unit.text}:`) : UNREADABLE);
const unreadIn = (field, unit) => (numberIn(field.value, unit) < coldest(unit) ? "below absolute zero" : unreadable(unit));
const coldest = (unit) => (unit.shift ? -unit.shift / unit.numerator : -Infinity);
const numberIn = (text, unit) => number(unit.text && text.trimEnd().endsWith(unit.text) ? text.trimEnd().slice(0, -unit.text.length) : text);
// A number as it is typed: `1/3` is one too.
const number = (text) => {
  const parts = text.replaceAll("−", "-").replaceAll(",", ".").split("/").map((part) => (part.trim() === "" ? NaN : Number(part)));
  return parts.length === 1 ? parts[0] : parts.length === 2 ? parts[0] / parts[1] : NaN;
};
// Texts side by side, none of which is torn at the end of a line: a name from its number.
function sideBySide(place, texts) {
  place.replaceChildren();
  texts.forEach((text, k) => {
    const whole = document.createElement("span");
    whole.textContent = text;
    place.append(k ? "   " : "", whole);
  });
}

// ---- evaluation and backpropagation -------------------------------------------------------------------------------
class Trouble extends Error {
  constructor(node, message) {
    super(message);
    this.node = node;
  }
}

// Which inputs a node asks for next, as positions; those of a choice depend on its condition.
function demanded(k, data) {
  const { kind, inputs } = nodes[k];
  const first = inputs.length ? data[inputs[0]] : null;
  if (kind === "where") return first === null ? [0] : first ? [0, 1] : [0, 2];
  if (kind === "and") return first === null || !first ? [0] : [0, 1];
  if (kind === "or") return first === null || first ? [0] : [0, 1];
  return inputs.map((_, position) => position);
}

function evaluate(values) {
  const data = nodes.map(() => null);
  const partials = nodes.map(() => []);
  const taken = nodes.map(() => []);
  const stack = [output];
  while (stack.length) {
    const k = stack[stack.length - 1];
    if (data[k] !== null) {
      stack.pop();
      continue;
    }
    const positions = demanded(k, data);
    const missing = positions.map((p) => nodes[k].inputs[p]).filter((p) => data[p] === null);
    if (missing.length) {
      stack.push(...missing.reverse());
      continue;
    }
    taken[k] = positions;
    compute(k, values, data, partials);
    stack.pop();
  }
  return { values, data, taken, partials, ...backward(data, taken, partials) };
}

function compute(k, values, data, partials) {
  const { kind, name, inputs, slots, operation, value } = nodes[k];
  if (kind === "variable") data[k] = toSI(values[name], ofVariable(name));
  else if (kind === "constant") data[k] = value;
  else if (kind === "where") {
    const chosen = data[inputs[0]] ? 1 : 2;
    data[k] = data[inputs[chosen]];
    partials[k][chosen] = 1;
  } else if (kind === "and" || kind === "or") {
    const first = data[inputs[0]];
    data[k] = (kind === "and") === Boolean(first) ? data[inputs[1]] : first;
  } else {
    const places = slots.filter((slot) => slot !== null);
    const [result, slopes] = OPERATIONS[operation](...places.map((slot) => data[inputs[slot]]));
    if (!Number.isFinite(result)) throw new Trouble(k, undefinedAt(k, result, data));
    data[k] = result;
    if (kind === "number") places.forEach((slot, j) => (partials[k][slot] = slopes[j]));
  }
}

const at = (k, data) => {
  const numbers = nodes[k].inputs.map((p) => general(data[p], 6));
  return numbers.length === 1 ? numbers[0] : `(${numbers.join(", ")})`;
};

function undefinedAt(k, result, data) {
  const { name, domain, trouble } = page.operations[nodes[k].operation];
  if (!Number.isNaN(result) && !(trouble && data[nodes[k].inputs[1]] === 0) && (!domain || Math.abs(result) === Infinity && !isPole(k, data)))
    return `\`${name}\` at ${at(k, data)} is too large for a double-precision number`;
  return trouble || `\`${name}\` is undefined at ${at(k, data)}` + (domain ? `; its domain: ${domain}` : "");
}

// Whether an infinite result is that of a pole: of all that has a domain, numbers grow beyond bounds in pow only.
const isPole = (k, data) => page.operations[nodes[k].operation].name !== "**" || data[nodes[k].inputs[0]] === 0;

function backward(data, taken, partials) {
  const active = nodes.map(() => false);
  const moving = nodes.map(() => false); // of the active ones those whose value changes with a variable, near the point
  for (const name of page.wanted) active[page.variables[name]] = moving[page.variables[name]] = true;
  const loses = (k, p) => nodes[k].selects && partials[k][p] === 0;
  nodes.forEach(({ inputs }, k) => {
    if (data[k] === null || isCondition(k)) return;
    active[k] ||= taken[k].some((p) => active[inputs[p]]);
    moving[k] ||= taken[k].some((p) => moving[inputs[p]] && !loses(k, p));
  });
  const users = nodes.map(() => 0);
  const pulls = [];
  const adjoints = nodes.map(() => null);
  adjoints[output] = 1;
  for (const k of [...order].reverse()) {
    if (data[k] === null || adjoints[k] === null || !active[k] || isCondition(k)) continue;
    for (const position of taken[k]) {
      const target = nodes[k].inputs[position];
      const partial = partials[k][position];
      if (partial === undefined || !active[target] || loses(k, position)) continue;
      if (!Number.isFinite(partial) && !moving[target]) continue;
      if (!Number.isFinite(partial))
        throw new Trouble(k, `\`${page.operations[nodes[k].operation].name}\` is defined at ${at(k, data)} but its derivative is ${Number.isNaN(partial) ? "undefined" : "infinite"} there`);
      const product = adjoints[k] * partial;
      const before = adjoints[target];
      adjoints[target] = (before === null ? 0 : before) + product;
      users[target] += 1;
      pulls.push({ source: k, position, target, partial, product, before, total: adjoints[target] });
    }
  }
  return { active, adjoints, pulls, users };
}

// ---- formulas -----------------------------------------------------------------------------------------------------
const SLOT = 0xe000;

// A formula with its inputs' names, or with what `word` makes of the node of each; the last slot is the output.
function filled(k, formula, word) {
  const { inputs } = nodes[k];
  return Array.from(formula, (char, place) => {
    const slot = char.codePointAt(0) - SLOT;
    if (slot < 0 || slot > inputs.length) return char;
    const text = word(slot < inputs.length ? inputs[slot] : k);
    const before = formula.slice(0, place).trimEnd().slice(-1);
    const after = formula.slice(place + 1).trimStart();
    const alone = (before === "" && !after.startsWith("**")) || ("(,".includes(before) && before !== "" && /^([),]|$)/.test(after));
    return text.startsWith("-") && !alone ? `(${text})` : text;
  }).join("");
}
const nameOf = (k) => nodes[k].label || nodes[k].text;
const formulaOf = (k) => filled(k, nodes[k].formula, nameOf);
const numbersOf = (k, data) =>
  filled(k, nodes[k].formula, (p) => nodes[p].text || (data[p] === null ? nameOf(p) : shown(p, data[p], literal)));
const factor = (x, unit) => (x < 0 ? `(${literal(x, unit)})` : literal(x, unit));

function derivativeOf({ source, position, partial }) {
  const formula = filled(source, nodes[source].partials[position] || "", nameOf);
  const unit = ofPartial(source, position);
  return !formula || formula === literal(partial, unit) ? measured(partial, unit) : `${formula} = ${measured(partial, unit)}`;
}

// ---- steps --------------------------------------------------------------------------------------------------------
let run = null;
let steps = [];
let rows = []; // of the trace, as far as they have been written
let now = 0;
let quiz = null;

function stepsOf(run) {
  const forward = order.filter((k) => run.data[k] !== null).map((node) => ({ kind: "forward", node }));
  const seed = run.pulls.length || nodes[output].kind === "variable" ? [{ kind: "seed", node: output }] : [];
  return [...forward, ...seed, ...run.pulls.map((pull) => ({ kind: "pull", node: pull.target, pull }))];
}

function rowOf(step) {
  const { node, pull } = step;
  const name = nameOf(node);
  if (step.kind === "seed") return [`${nodes[node].adjoint} = 1`, "", "", "1"];
  if (step.kind === "forward") {
    const leaf = !nodes[node].inputs.length;
    return [leaf ? name : `${name} = ${formulaOf(node)}`, "", leaf ? "" : numbersOf(node, run.data), shown(node, run.data[node])];
  }
  const sign = run.users[node] > 1 ? "+=" : "=";
  const left = `${nodes[node].adjoint} ${sign} ${nodes[pull.source].adjoint} · ∂${nameOf(pull.source)}/∂${name}`;
  const unit = ofAdjoint(node);
  const product = `${factor(run.adjoints[pull.source], ofAdjoint(pull.source))} · ${factor(pull.partial, ofPartial(pull.source, pull.position))}`;
  return [left, derivativeOf(pull), pull.before === null ? product : `${literal(pull.before, unit)} + ${product}`, measured(pull.total, unit)];
}

function wordsOf(step) {
  const { node, pull } = step;
  if (step.kind === "seed") return `Backward now: the adjoint of ${nameOf(node)}, its derivative by itself, is 1.`;
  if (step.kind === "forward") {
    if (!nodes[node].inputs.length) return `${nameOf(node)} is given: ${shown(node, run.data[node])}.`;
    return `${nameOf(node)} = ${formulaOf(node)} = ${numbersOf(node, run.data)} = ${shown(node, run.data[node])}.`;
  }
  const [left, derivative, numbers, total] = rowOf(step);
  const several = run.users[node] > 1 ? ` ${nameOf(node)} has ${run.users[node]} users: their parts are added.` : "";
  return `${left}, and ∂${nameOf(pull.source)}/∂${nameOf(node)} is ${derivative}: ${numbers} = ${total}.${several}`;
}

// ---- drawing the step ---------------------------------------------------------------------------------------------
// All that a step shows is said anew each time, and only what differs from what is there is written: a browser lays out
// again whatever is touched, and a graph may be large.
// The graph is drawn whole and, where lists were unrolled, once more with a box for many nodes, and once for each of these
// boxes, which is open there: one of all is seen.
// All these are there twice, but for large graphs: a narrow page shows those that are drawn for it.
const whole = nodes.map(({ inputs }, k) => ({ members: [k], inputs, results: [k], words: "" }));
const drawingOf = (svg, place) => {
  const boxes = place > 1 ? page.opened[place - 2].folds : place ? page.folds : whole;
  const groups = boxes.map((_, k) => svg.querySelector(`[data-node="${k}"]`));
  const cells = groups.map((group) =>
    Object.fromEntries(Array.from(group.querySelectorAll("[data-cell]"), (cell) => [cell.dataset.cell, cell])),
  );
  const lines = new Map(Array.from(svg.querySelectorAll("[data-edge]"), (line) => [line.dataset.edge, line]));
  const boxOf = [];
  boxes.forEach(({ members }, k) => members.forEach((member) => (boxOf[member] = k)));
  return { svg, boxes, groups, cells, lines, boxOf };
};
const wideDrawings = Array.from(document.querySelectorAll("#graph svg:not(.narrow)"), drawingOf);
const narrowDrawings = Array.from(document.querySelectorAll("#graph svg.narrow"), drawingOf);
const narrowPage = matchMedia("(max-width: 32rem)");
const drawingsHere = () => (narrowPage.matches && narrowDrawings.length ? narrowDrawings : wideDrawings);
let drawings = drawingsHere();
let drawing = drawings[drawings.length > 1 ? 1 : 0];

// The line between the boxes of a node and of one of its inputs; none within a box.
function lineOf(k, position) {
  const [to, from] = [drawing.boxOf[k], drawing.boxOf[nodes[k].inputs[position]]];
  const { inputs } = drawing.boxes[to];
  return drawing.lines.get(`${to}-${inputs[position] === from ? position : inputs.indexOf(from)}`);
}

// Shows a drawing, in which a node that is to be in sight is.
function draw(place, node) {
  for (const text of labels.values()) text.remove();
  labels.clear();
  drawing = drawings[place];
  for (const each of [...wideDrawings, ...narrowDrawings]) each.svg.toggleAttribute("hidden", each !== drawing);
  $("fold").setAttribute("aria-pressed", String(place === 1));
  fitGraph();
  if (run) render();
  else writeBoxes(() => "?", () => "?", () => false);
  if (node !== undefined) drawing.groups[drawing.boxOf[node]].scrollIntoView?.({ block: "center", inline: "center" });
}
const COLUMN = 7.8; // how wide a character is drawn, and for how many there is room
const COLUMNS = 9;

function say(place, text) {
  if (place.textContent === text) return false;
  place.replaceChildren(...barred(text));
  return true;
}

// A name of several letters has one bar over all of it: the bars of its letters, which are copied with it, are not seen.
const BAR = "\u0305";
function barred(text) {
  return text.split(/((?:[^\u0305]\u0305)+)/u).filter(Boolean).map((part) => {
    if (!part.endsWith(BAR)) return part;
    const name = Object.assign(document.createElement("span"), { className: "barred" });
    for (const letter of part.split(BAR).slice(0, -1)) name.append(letter, Object.assign(document.createElement("i"), { textContent: BAR }));
    return name;
  });
}

function mark(place, name, value) {
  if (value === null) place.toggleAttribute(name, false);
  else if (place.getAttribute(name) !== value) place.setAttribute(name, value);
}

// In the picture, where a longer text is pressed together, but for its unit.
function fit(place, text, unit) {
  const columns = COLUMNS + (unit.text && unit.text.length + 1);
  if (say(place, text)) mark(place, "textLength", String(Math.max(1, Math.min(text.length, columns)) * COLUMN));
}
// Its words, none of which is torn at the end of a line: a number, and its unit.
function inWords(place, text) {
  if (place.textContent === text) return;
  place.replaceChildren();
  text.split(" ").forEach((word, k) => place.append(k ? " " : "", Object.assign(document.createElement("span"), { textContent: word })));
}
const put = (k, cell, text, unit) => drawing.cells[k][cell] && fit(drawing.cells[k][cell], text, unit);

// Writes the boxes: of many nodes, how many have their number.
function writeBoxes(value, slope, waits) {
  const several = (texts) => {
    const known = texts.filter((text) => text !== "?").length;
    return known === 0 ? "?" : known < texts.length ? `${known} of ${texts.length}` : `all ${known}`;
  };
  drawing.boxes.forEach(({ members, results }, k) => {
    put(k, "data", results.length > 1 ? several(results.map(value)) : value(results[0]), ofNode(results[0]));
    put(k, "grad", results.length > 1 ? several(results.map(slope)) : slope(results[0]), ofAdjoint(results[0]));
    drawing.groups[k].classList.toggle("waits", members.every(waits));
  });
}

function render() {
  const visible = quiz ? now : now + 1; // steps whose numbers are there
  const data = nodes.map((node, k) => (node.inputs.length || node.text === "" ? null : run.data[k]));
  const adjoints = nodes.map(() => null);
  steps.slice(0, visible).forEach(({ kind, node, pull }) => {
    if (kind === "forward") data[node] = run.data[node];
    else adjoints[node] = kind === "seed" ? 1 : pull.total;
  });
  const ended = visible >= steps.length;
  const step = steps[Math.min(now, steps.length - 1)];
  writeBoxes(
    (k) => (data[k] === null ? (run.data[k] === null && ended ? "–" : "?") : shown(k, data[k])),
    (k) => (adjoints[k] === null && !ended ? "?" : measured(adjoints[k] ?? 0, ofAdjoint(k))),
    (k) => nodes[k].kind !== "constant" && data[k] === null,
  );
  drawing.groups.forEach((group, k) => {
    group.classList.toggle("now", k === drawing.boxOf[step.node]);
    group.classList.toggle("bad", false);
  });
  labelled(steps.slice(0, now + 1).flatMap(({ pull }) => pull ?? []));
  const flowing = step.pull ? [lineOf(step.pull.source, step.pull.position)] : [];
  if (step.kind === "forward") flowing.push(...run.taken[step.node].map((position) => lineOf(step.node, position)));
  for (const line of drawing.lines.values()) line.classList.toggle("flow", flowing.includes(line));
  say($("words"), quiz ? "" : wordsOf(step));
  mark($("step"), "max", String(steps.length - 1));
  $("step").value = now;
  mark($("step"), "aria-valuetext", `${now + 1} of ${steps.length}`);
  say($("count"), `${Math.min(now + 1, steps.length)} of ${steps.length}`);
  trace(visible);
  drawing.groups[drawing.boxOf[step.node]].scrollIntoView?.({ block: "nearest", inline: "nearest" });
}

// The local derivatives, each on the line that the adjoint flows back along; the quiz does not say the last.
const labels = new Map();

function labelled(pulls) {
  const wanted = new Set();
  pulls.forEach(({ source, position, partial }, k) => {
    const line = lineOf(source, position);
    // of the many nodes of a box each has its own, and a node within one has none that is seen
    const { results } = drawing.boxes[drawing.boxOf[nodes[source].inputs[position]]];
    if (!line || results.length > 1 || String(drawing.boxes[drawing.boxOf[source]].results) !== String(source)) return;
    const hidden = quiz && steps[now]?.pull === pulls[k];
    if (!labels.has(line)) labels.set(line, labelOn(line, source));
    const text = labels.get(line);
    wanted.add(text);
    const unit = ofPartial(source, position);
    fit(text, hidden ? "?" : `×${measured(partial, unit)}`, unit);
    if (!text.isConnected) line.parentNode.append(text);
  });
  for (const text of labels.values()) if (!wanted.has(text) && text.isConnected) text.remove();
}

// Where the picture has room for it, before the arrow's head: above a line to the right; beside a line that goes down,
// on the left of the first into an operation, and on the right of the others.
function labelOn(line, source) {
  const end = (each) => each.getPointAtLength(each.getTotalLength());
  const { x, y } = end(line);
  if (line.getPointAtLength(line.getTotalLength() - 1).x < x - 0.5)
    return partialAt(x - 8, y - 4, "end");
  const to = drawing.boxOf[source];
  const ends = drawing.boxes[to].inputs.map((_, position) => end(drawing.lines.get(`${to}-${position}`)).x);
  const first = ends.length > 1 && x === Math.min(...ends);
  return first ? partialAt(x - 8, y - 4, "end") : partialAt(x + 8, y - 4, "start");
}
const partialAt = (x, y, anchor) =>
  element("text", { class: "partial", x, y, "text-anchor": anchor, lengthAdjust: "spacingAndGlyphs" });

const MANY = 8; // of more rows alike only the first two and the last are seen
let runs = []; // for each step, the first and the last step of those at one place of the text

function runsOf(steps) {
  const placeOf = ({ kind, node, pull }) => `${kind} ${nodes[pull ? pull.source : node].place}`;
  const found = [];
  for (let first = 0; first < steps.length; first = found.length) {
    let last = first;
    const place = placeOf(steps[first]);
    while (last + 1 < steps.length && placeOf(steps[last + 1]) === place) last += 1;
    for (let k = first; k <= last; k++) found.push([first, last]);
  }
  return found;
}

// How many rows the row of a step stands for: 0 for its own, -1 if it is not seen.
function leftOut(k) {
  const [first, last] = runs[k];
  const { node, pull } = steps[first];
  const { words } = drawing.boxes[drawing.boxOf[pull ? pull.source : node]];
  const seen = !words || last - first < MANY || (first + 1 < now && now < last);
  if (seen || k < first + 2 || k === last) return 0;
  return k === first + 2 ? last - first - 2 : -1;
}

function trace(visible) {
  const body = $("trace").tBodies[0];
  while (body.rows.length > steps.length) body.deleteRow(-1);
  steps.forEach((step, k) => {
    const row = body.rows[k] ?? body.insertRow();
    rows[k] ??= rowOf(step);
    const ahead = k >= visible;
    const left = leftOut(k);
    row.hidden = left < 0;
    const texts = left > 0 ? [`… ${left} more rows`, "", "", ""] : rows[k];
    texts.forEach((text, column) => {
      const cell = row.cells[column] ?? row.insertCell();
      if (column === 3 && text.includes(" ") && !ahead) inWords(cell, text);
      else say(cell, column && ahead ? "" : text);
    });
    row.classList.toggle("ahead", ahead);
    row.classList.toggle("now", k === now);
    mark(row, "aria-current", k === now ? "step" : null);
  });
  const current = body.rows[now];
  if (current) body.parentNode.parentNode.scrollTop = current.offsetTop - 120;
}

$("trace").tBodies[0].addEventListener("click", (event) => quiz || go(event.target.closest("tr").rowIndex - 1));

function go(k) {
  now = Math.max(0, Math.min(steps.length - 1, k));
  if (run) render();
}

// ---- live ---------------------------------------------------------------------------------------------------------
// The derivative by a variable: as text, and that of the number which is shown by the number that is typed.
const adjointOf = (name, there = run) => there.adjoints[page.variables[name]] ?? 0;
const gradientOf = (name) => measured(adjointOf(name), ofAdjoint(page.variables[name]));
function slopeOf(name, there = run) {
  const { numerator, denominator } = ofVariable(name);
  return (((adjointOf(name, there) * numerator) / denominator) * ofValue.denominator) / ofValue.numerator;
}
const valueOf = (there = run) => fromSI(there.data[output], ofValue);

function update(first = false) {
  try {
    run = evaluate({ ...point });
    const atEnd = now >= steps.length - 1;
    steps = stepsOf(run);
    rows = [];
    runs = runsOf(steps);
    now = first ? 0 : atEnd ? steps.length - 1 : Math.min(now, steps.length - 1);
    $("trouble").hidden = true;
    for (const control of ["first", "back", "play", "next", "last", "step", "quiz", "down", "down10"]) $(control).disabled = false;
    render();
    const partials = lists(page.wanted).map(([list, names]) => {
      const numbers = names.map(gradientOf);
      return list ? `∂/∂${list} = [${numbers[0]}, ${numbers[1]}, … ${names.length} numbers]` : `∂/∂${names[0]} = ${numbers[0]}`;
    });
    sideBySide($("answer"), [`value = ${measured(run.data[output], ofValue)}`, ...partials]);
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    failed(error);
  }
  for (const name of Object.keys(point)) {
    const gradient = $(`gradient-${page.variables[name]}`);
    const known = run && page.wanted.includes(name);
    const unread = $(`field-${page.variables[name]}`).getAttribute("aria-invalid") === "true";
    if (known && !unread) sideBySide(gradient, ["∂ =", gradientOf(name)]);
    else gradient.textContent = unread ? unreadIn($(`field-${page.variables[name]}`), ofVariable(name)) : "";
  }
  plot();
}

function failed(error) {
  run = null;
  stop();
  $("answer").textContent = "";
  $("trouble").textContent = error.message + here(error.node);
  $("trouble").hidden = false;
  say($("words"), "");
  for (const control of ["first", "back", "play", "next", "last", "step", "quiz", "down", "down10"]) $(control).disabled = true;
  writeBoxes(() => "?", () => "?", () => false);
  drawing.groups.forEach((group, k) => {
    group.classList.remove("now");
    group.classList.toggle("bad", k === drawing.boxOf[error.node]);
  });
}

// The variables that a node is made from, as messages have them.
function here(node) {
  const found = new Set();
  const stack = [node];
  while (stack.length) {
    const k = stack.pop();
    if (nodes[k].kind === "variable") found.add(k);
    stack.push(...[...nodes[k].inputs].reverse());
  }
  const told = [...found].map((k) => `${nodes[k].name} = ${withUnit(general(point[nodes[k].name], 6), ofVariable(nodes[k].name))}`);
  return told.length ? ` (here ${told.slice(0, 5).join(", ")}${told.length > 5 ? ", …" : ""})` : "";
}

// Names one by one, and those of each long list together, after its name.
function lists(names) {
  const found = new Map();
  for (const name of names) {
    const list = name.split("[")[0];
    found.set(list, [...(found.get(list) ?? []), name]);
  }
  return [...found].flatMap(([list, names]) => (names.length > MANY ? [[list, names]] : names.map((name) => ["", [name]])));
}

function inputs() {
  const places = new Map(); // of the variables of long lists, which are to be opened
  for (const [list, names] of lists(Object.keys(page.point))) {
    if (!list) continue;
    const [details, summary, inside] = ["details", "summary", "div"].map((kind) => document.createElement(kind));
    summary.textContent = `${list}: ${names.length} numbers`;
    details.append(summary, inside);
    names.forEach((name) => places.set(name, inside));
  }
  for (const [name, start] of Object.entries(page.point)) {
    const id = page.variables[name];
    const reach = Math.max(1, 2 * Math.abs(start));
    const unit = ofVariable(name);
    const label = document.createElement("label");
    label.textContent = headed(name, unit).replace(" ", "\u00a0");
    label.htmlFor = `field-${id}`;
    const slider = document.createElement("input");
    Object.assign(slider, { type: "range", id: `slider-${id}`, min: Math.max(start - reach, coldest(unit)), max: start + reach, step: reach / 200 });
    slider.value = start;
    slider.setAttribute("aria-label", `${name}, slider`);
    const field = document.createElement("input");
    Object.assign(field, { type: "text", id: `field-${id}`, inputMode: "decimal", autocomplete: "off" });
    show(field, String(start));
    const gradient = document.createElement("output");
    gradient.id = `gradient-${id}`;
    slider.addEventListener("input", () => set(name, Number(slider.value)));
    field.addEventListener("change", () => {
      const x = numberIn(field.value, unit);
      field.setAttribute("aria-invalid", String(!(Number.isFinite(x) && x >= coldest(unit))));
      if (field.getAttribute("aria-invalid") === "false") set(name, x);
      else gradient.textContent = unreadIn(field, unit);
    });
    const place = places.get(name);
    if (place && !place.children.length) $("inputs").append(place.parentNode);
    (place ?? $("inputs")).append(label, slider, field, gradient);
  }
  if (!page.wanted.length) $("descent").hidden = true;
  document.body.classList.toggle("units", Boolean(page.units));
  $("of-rate").textContent = page.units && page.units.rate !== "1" ? `in ${page.units.rate.replaceAll("`", "")}` : "";
}

// A field is as wide as its number.
function widen(field) {
  field.style.width = `calc(${Math.max(field.id === "rate" ? 6 : 12, field.value.length) + 1}ch + 1.4rem)`;
}

function show(field, text) {
  field.value = text;
  widen(field);
}

function place(name, x) {
  point[name] = x;
  $(`slider-${page.variables[name]}`).value = x;
  const field = $(`field-${page.variables[name]}`);
  show(field, String(Number(x.toPrecision(12))));
  field.setAttribute("aria-invalid", "false");
}

function set(name, x) {
  place(name, x);
  forget();
  update();
}

// ---- descent ------------------------------------------------------------------------------------------------------
let path = [];

function forget() {
  path = [];
  $("loss").toggleAttribute("hidden", true);
  $("descended").textContent = "";
}

function descend(times) {
  const rate = number($("rate").value);
  $("rate").setAttribute("aria-invalid", String(!Number.isFinite(rate)));
  if (!Number.isFinite(rate)) $("descended").textContent = `The rate is ${UNREADABLE}`;
  if (!run || !Number.isFinite(rate)) return;
  if (!path.length) path.push({ ...point, value: valueOf() });
  for (let k = 0; k < times && run; k++) {
    const slopes = page.wanted.map((name) => slopeOf(name));
    page.wanted.forEach((name, j) => place(name, point[name] - rate * slopes[j]));
    try {
      run = evaluate({ ...point });
      path.push({ ...point, value: valueOf() });
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      run = null;
    }
  }
  update();
  const [start, last] = [path[0].value, path[path.length - 1].value];
  const taken = path.length - 1;
  const reached = (value) => withUnit(written(value), ofValue);
  if (!run) $("descended").textContent = `diverged after ${taken} steps: the next one leads to where there is no value; try a smaller rate`;
  else if (last > start && rate > 0)
    $("descended").textContent = `diverged after ${taken} steps: the value has grown from ${reached(start)} to ${reached(last)}; try a smaller rate`;
  else $("descended").textContent = `after ${taken} steps: value = ${reached(last)}`;
  loss();
}

function back() {
  for (const [name, x] of Object.entries(page.point)) place(name, x);
  forget();
  update();
}

// ---- plots --------------------------------------------------------------------------------------------------------
function element(kind, attributes, text) {
  const made = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// Scales a range of numbers to the pixels from `low` to `high`.
const scale = (a, b, low, high) => (x) => low + ((x - a) / (b - a || 1)) * (high - low);

function line(points) {
  let text = "";
  let pen = false;
  for (const [x, y] of points) {
    const there = Number.isFinite(y) && Math.abs(y) < 1e5;
    if (there) text += `${pen ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    pen = there;
  }
  return text;
}

// Round numbers between two ends: 1, 2 or 5 times a power of ten apart.
function ticks(a, b, count) {
  const power = 10 ** Math.floor(Math.log10((b - a) / count));
  const step = power * [1, 2, 5, 10].find((times) => power * times * count >= b - a);
  const first = Math.ceil(a / step - 1e-9);
  const last = Math.floor(b / step + 1e-9);
  if (!Number.isFinite(step) || !(last - first <= 2 * count)) return [];
  return Array.from({ length: last - first + 1 }, (_, k) => Number(((first + k) * step).toPrecision(12)));
}

// A number at a tick, with the digits that tell it from its neighbours; where it is longer than its room, pressed together.
function tickText(x, room, attributes) {
  const [plain, powers] = [String(x), x.toExponential().replace("e+", "e")];
  const text = plain.length > 6 && powers.length < plain.length ? powers : plain;
  const pressed = LETTER * text.length > room ? { textLength: room.toFixed(1), lengthAdjust: "spacingAndGlyphs" } : {};
  return element("text", { ...attributes, ...pressed }, text);
}
const LETTER = 6.7; // the width of a letter in a plot

// The axes of a plot, with ticks and names outside.
function frame(svg, [left, right, top, bottom], [a, b, c, d], across = "", up = "") {
  const [x, y] = [scale(a, b, left, right), scale(c, d, bottom, top)];
  let marks = `M${left} ${top}V${bottom}H${right}`;
  const below = ticks(a, b, 5);
  for (const tick of below) {
    marks += `M${x(tick).toFixed(1)} ${bottom}v4`;
    const room = Math.min((right - left) / below.length - LETTER, 2 * (420 - right));
    svg.append(tickText(tick, room, { x: x(tick).toFixed(1), y: bottom + 19, "text-anchor": "middle" }));
  }
  for (const tick of ticks(c, d, 7)) {
    marks += `M${left} ${y(tick).toFixed(1)}h-4`;
    svg.append(tickText(tick, left - 29, { x: left - 7, y: (y(tick) + 4).toFixed(1), "text-anchor": "end" }));
  }
  svg.append(element("path", { class: "axis", d: marks }));
  if (across) svg.append(element("text", { x: (left + right) / 2, y: bottom + 33, "text-anchor": "middle" }, across));
  if (up) svg.append(element("text", { transform: `translate(10 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, up));
}

// What the lines of a plot are, above its frame, where no line is.
function key(svg, entries) {
  const [LINE, GAP] = [27, 14]; // the widths of a line's sample, and of what parts two
  const letters = entries.reduce((count, [, words]) => count + words.length, 0);
  const room = FRAME[1] - FRAME[0] - entries.length * (LINE + GAP);
  const wide = Math.min(LETTER, room / letters);
  let left = FRAME[0];
  for (const [kind, words] of entries) {
    const text = { x: left + LINE, y: 15, textLength: (wide * words.length).toFixed(1), lengthAdjust: "spacingAndGlyphs" };
    svg.append(element("path", { class: `of-${kind}`, d: `M${left} 11h22` }), element("text", text, words));
    left += LINE + wide * words.length + GAP;
  }
}
const FRAME = [76, 395, 28, 270]; // left, right, top and bottom of the plot

// A group of which only that part is seen which lies in the frame of a plot.
function inside(svg) {
  const [left, right, top, bottom] = FRAME;
  const clip = element("clipPath", { id: "framed" });
  clip.append(element("rect", { x: left, y: top, width: right - left, height: bottom - top }));
  svg.append(clip);
  return element("g", { "clip-path": "url(#framed)" });
}

function loss() {
  const svg = $("loss");
  svg.toggleAttribute("hidden", path.length < 2);
  svg.replaceChildren();
  if (path.length < 2) return;
  const values = path.map((each) => each.value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const [left, right] = FRAME;
  const [x, y] = [scale(0, path.length - 1, left, right), scale(low, high, 144, 12)];
  frame(svg, [left, right, 12, 144], [0, path.length - 1, low, high], "step", headed("value", ofValue));
  svg.append(element("path", { class: "curve", d: line(values.map((value, k) => [x(k), y(value)])) }));
}

function tried(values) {
  try {
    return evaluate(values);
  } catch (error) {
    if (error instanceof Trouble) return null;
    throw error;
  }
}

// What the plot was drawn from, and what moves its point: while only that moves, nothing else is drawn anew.
let plotted = { key: "", follow: () => {} };

function plot() {
  const free = page.wanted.filter((name) => name in point);
  $("plotted").hidden = free.length < 1 || free.length > 2 || nodes.length > 300;
  if ($("plotted").hidden) return;
  const others = Object.entries(point).filter(([name]) => !free.includes(name));
  const key = JSON.stringify([free.map(span), others]);
  if (key !== plotted.key) {
    $("plot").replaceChildren();
    plotted = { key, follow: free.length === 1 ? curve(free[0]) : contours(free) };
  }
  plotted.follow();
}

// The range of a slider, the point, and the way of a descent as far as that is not many times as wide.
const span = (name) => {
  const slider = $(`slider-${page.variables[name]}`);
  const [low, high] = [Number(slider.min), Number(slider.max)];
  const reach = 4 * (high - low);
  const passed = path.map((each) => each[name]).filter((x) => x > low - reach && x < high + reach);
  const ends = path.length ? passed : [point[name]];
  return [Math.min(low, ...ends), Math.max(high, ...ends)];
};

function curve(name) {
  const [a, b] = span(name);
  const found = Array.from({ length: 161 }, (_, k) => {
    const x = a + ((b - a) * k) / 160;
    const there = tried({ ...point, [name]: x });
    return [x, there && valueOf(there), there && fromSI(adjointOf(name, there), ofAdjoint(page.variables[name]))];
  });
  const heights = found.flatMap(([, f, g]) => [f, g]).filter((y) => y !== null).sort((p, q) => p - q);
  if (!heights.length) return () => {};
  // A pole must not flatten the rest.
  const at = (share) => heights[Math.round(share * (heights.length - 1))];
  const reach = at(0.97) - at(0.03) || 1;
  const [low, high] = [Math.max(heights[0], at(0.03) - reach), Math.min(heights[heights.length - 1], at(0.97) + reach)];
  const [left, right, top, bottom] = FRAME;
  const [x, y] = [scale(a, b, left, right), scale(low, high, bottom, top)];
  const near = (height) => (height === null || height < low - reach || height > high + reach ? NaN : y(height));
  const svg = $("plot");
  frame(svg, FRAME, [a, b, low, high], headed(name, ofVariable(name)));
  const ofSlope = headed("derivative", ofAdjoint(page.variables[name]));
  key(svg, [["curve", headed("f", ofValue)], ["slope", ofSlope], ["tangent", "tangent"]]);
  const framed = svg.appendChild(inside(svg));
  framed.append(element("path", { class: "curve", d: line(found.map(([t, f]) => [x(t), near(f)])) }));
  framed.append(element("path", { class: "slope", d: line(found.map(([t, , g]) => [x(t), near(g)])) }));
  const moving = framed.appendChild(element("g", {}));
  svg.setAttribute("aria-label", `The function, its derivative and its tangent over ${name}`);
  return () => {
    moving.replaceChildren();
    if (!run) return;
    const [here, value, slope] = [point[name], valueOf(), slopeOf(name)];
    const ends = [a, b].map((t) => [x(t), y(value + slope * (t - here))]);
    moving.append(element("path", { class: "tangent", d: line(ends) }));
    moving.append(element("circle", { class: "here", cx: x(here), cy: y(value), r: 5 }));
  };
}

function contours([across, up]) {
  const [[a, b], [c, d]] = [span(across), span(up)];
  const N = nodes.length > 60 ? 24 : 40;
  const grid = Array.from({ length: N + 1 }, (_, j) =>
    Array.from({ length: N + 1 }, (_, i) => {
      const there = tried({ ...point, [across]: a + ((b - a) * i) / N, [up]: c + ((d - c) * j) / N });
      return there ? there.data[output] : NaN;
    }),
  );
  const sorted = grid.flat().filter(Number.isFinite).sort((p, q) => p - q);
  if (!sorted.length) return () => {};
  const levels = Array.from({ length: 10 }, (_, k) => sorted[Math.floor(((k + 0.5) / 10) * sorted.length)]);
  const [left, right, top, bottom] = FRAME;
  const [x, y] = [scale(0, N, left, right), scale(0, N, bottom, top)];
  const svg = $("plot");
  frame(svg, FRAME, [a, b, c, d], headed(across, ofVariable(across)), headed(up, ofVariable(up)));
  key(svg, [["level", headed("contours", ofValue)], ["path", "descent"]]);
  for (const level of new Set(levels)) svg.append(element("path", { class: "level", d: isoline(grid, level, x, y) }));
  const [u, v] = [scale(a, b, left, right), scale(c, d, bottom, top)];
  const moving = svg.appendChild(inside(svg));
  svg.setAttribute("aria-label", `Contours over ${across} and ${up}, with the point and the descent's path`);
  return () =>
    moving.replaceChildren(
      element("path", { class: "path", d: line(path.map((each) => [u(each[across]), v(each[up])])) }),
      element("circle", { class: "here", cx: u(point[across]), cy: v(point[up]), r: 5 }),
    );
}

// Marching squares: in each cell the level is crossed on an even number of sides, joined in pairs.
function isoline(grid, level, x, y) {
  let text = "";
  for (let j = 0; j + 1 < grid.length; j++)
    for (let i = 0; i + 1 < grid.length; i++) {
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
      const crossed = [];
      corners.forEach(([p, q], k) => {
        const [r, s] = corners[(k + 1) % 4];
        const [f, g] = [grid[q][p] - level, grid[s][r] - level];
        if (f < 0 !== g < 0 && Number.isFinite(f) && Number.isFinite(g)) {
          const t = f / (f - g);
          crossed.push(`${x(p + t * (r - p)).toFixed(1)} ${y(q + t * (s - q)).toFixed(1)}`);
        }
      });
      for (let k = 0; k + 1 < crossed.length; k += 2) text += `M${crossed[k]}L${crossed[k + 1]}`;
    }
  return text;
}

// ---- quiz ---------------------------------------------------------------------------------------------------------
const CLOSE = 0.005;

// Whether a guess is right. Numbers in units are of any size: what is 0 but for rounding is small beside its parts.
function isClose(guess, answer, { kind, node, pull }) {
  if (!page.units) return Math.abs(guess - answer) <= CLOSE * Math.max(Math.abs(answer), 1e-6) + 1e-9;
  const parts = pull ? [pull.before, pull.product] : nodes[node].inputs.map((p, position) => run.partials[node][position] * run.data[p]);
  const rounding = 1e-12 * Math.max(0, ...parts.filter(Number.isFinite).map(Math.abs));
  const { numerator, denominator } = unitOfAnswer({ kind, node });
  return Math.abs(guess - answer) <= CLOSE * Math.abs(answer) + (rounding * denominator) / numerator;
}

function ask() {
  while (now < steps.length && isGiven(steps[now])) now += 1;
  const over = now >= steps.length;
  $("question").hidden = false;
  $("guess").disabled = over;
  $("guess").value = "";
  $("reveal").textContent = over ? "Again" : "Show";
  $("unit").textContent = over ? "" : unitOfAnswer(steps[now]).text;
  score();
  say($("asked"), over ? "Done." : `${steps[now].kind === "forward" ? `${nameOf(steps[now].node)} = ${formulaOf(steps[now].node)} =` : `${rowOf(steps[now])[0]}: ${nodes[steps[now].node].adjoint} is now`}`);
  render();
  if (!over) $("guess").focus();
}

// A question counts from its first answer on, and right if that was: one that is mended is said besides.
function score() {
  const mended = quiz.mended ? `, ${quiz.mended} mended` : "";
  $("score").textContent = `${quiz.right} of ${quiz.asked + (quiz.missed ? 1 : 0)} right${mended}`;
}

// A leaf has its number from the start, and nobody is asked whether a condition holds, or for the 1 at the output.
const isGiven = (step) => step.kind === "seed" || (step.kind === "forward" && (!nodes[step.node].inputs.length || isCondition(step.node)));
const unitOfAnswer = (step) => (step.kind === "forward" ? ofNode : ofAdjoint)(step.node);
const answerOf = (step) => fromSI(step.kind === "forward" ? run.data[step.node] : step.pull.total, unitOfAnswer(step));
const answered = (step) => withUnit(written(answerOf(step)), unitOfAnswer(step));

function check(event) {
  event.preventDefault();
  if (now >= steps.length) return;
  const [guess, answer] = [numberIn($("guess").value, unitOfAnswer(steps[now])), answerOf(steps[now])];
  if (isClose(guess, answer, steps[now])) {
    quiz.mended += quiz.missed ? 1 : 0;
    settle(!quiz.missed, `Right: ${answered(steps[now])}.`);
  }
  else {
    quiz.missed = true;
    const { kind, node, pull } = steps[now];
    const hint = kind === "forward" ? numbersOf(node, run.data) : `∂${nameOf(pull.source)}/∂${nameOf(node)} is ${derivativeOf(pull)}; it is multiplied by ${nodes[pull.source].adjoint} = ${measured(run.adjoints[pull.source], ofAdjoint(pull.source))}${pull.before === null ? "" : ` and added to ${measured(pull.before, ofAdjoint(node))}`}`;
    say($("words"), `${Number.isNaN(guess) ? "That is not a number" : "Not quite"}. ${hint}`);
    score();
    $("guess").select();
  }
}

function settle(right, words) {
  quiz.asked += 1;
  quiz.right += right ? 1 : 0;
  quiz.missed = false;
  now += 1;
  ask();
  say($("words"), words);
}

function toggle(on) {
  stop();
  quiz = on ? { right: 0, asked: 0, mended: 0, missed: false } : null;
  document.body.classList.toggle("asking", on);
  $("quiz").setAttribute("aria-pressed", String(on));
  for (const control of ["first", "back", "play", "next", "last", "step"]) $(control).disabled = on;
  document.querySelectorAll("#inputs input, #descent button").forEach((input) => (input.disabled = on));
  now = 0;
  if (on) ask();
  else {
    $("question").hidden = true;
    render();
  }
}

// ---- playing, keys, theme -----------------------------------------------------------------------------------------
let timer = null;

function stop() {
  clearInterval(timer);
  timer = null;
  $("play").setAttribute("aria-pressed", "false");
}

function play() {
  if (timer !== null) return stop();
  if (now >= steps.length - 1) go(0);
  $("play").setAttribute("aria-pressed", "true");
  timer = setInterval(() => (now < steps.length - 1 ? go(now + 1) : stop()), 900);
}

const KEYS = { ArrowRight: () => go(now + 1), ArrowLeft: () => go(now - 1), Home: () => go(0), End: () => go(steps.length - 1), " ": play };

document.addEventListener("keydown", (event) => {
  const busy = event.target.closest(event.key === " " ? "input, button" : "input") || quiz || !run;
  if (busy || event.ctrlKey || event.altKey || event.metaKey || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
});
$("first").addEventListener("click", () => go(0));
$("back").addEventListener("click", () => go(now - 1));
$("next").addEventListener("click", () => go(now + 1));
$("last").addEventListener("click", () => go(steps.length - 1));
$("play").addEventListener("click", play);
$("step").addEventListener("input", () => go(Number($("step").value)));
$("quiz").addEventListener("click", () => toggle(quiz === null));
$("question").addEventListener("submit", check);
$("reveal").addEventListener("click", () => (now >= steps.length ? toggle(true) : settle(false, `It is ${answered(steps[now])}.`)));
$("down").addEventListener("click", () => descend(1));
$("down10").addEventListener("click", () => descend(10));
$("reset").addEventListener("click", back);
document.addEventListener("input", ({ target }) => target.type === "text" && widen(target));
$("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  root.dataset.theme = dark ? "light" : "dark";
});

const PAPER = 1100; // pixels from which on a graph is printed on paper turned sideways

// A graph is made a little smaller to fit; of one that is much too wide it is said that it scrolls.
function fitGraph() {
  const { svg } = drawing;
  const natural = svg.viewBox.baseVal.width || svg.getBoundingClientRect().width;
  const fits = $("graph").clientWidth >= 0.6 * natural;
  svg.style.maxWidth = fits ? "100%" : "none";
  svg.style.height = fits ? "auto" : "";
  $("scrolls").hidden = fits;
  document.body.classList.toggle("sideways", natural > PAPER);
}
addEventListener("resize", fitGraph);
narrowPage.addEventListener("change", () => {
  const place = drawings.indexOf(drawing);
  drawings = drawingsHere();
  draw(place);
});

// On paper all steps are done, and what can be opened is open; a quiz is printed as the sheet that it is.
let before = null;
addEventListener("beforeprint", () => {
  if (quiz || !run || before) return;
  before = { now, opened: $("derivation")?.open };
  if ($("derivation")) $("derivation").open = true;
  document.documentElement.dataset.printed = "";
  go(steps.length - 1);
  // no step is the last one that was done
  for (const place of document.querySelectorAll(".now, .flow")) place.classList.remove("now", "flow");
});
addEventListener("afterprint", () => {
  if (!before) return;
  if ($("derivation")) $("derivation").open = before.opened;
  delete document.documentElement.dataset.printed;
  go(before.now);
  before = null;
});

// A box of many nodes is opened by a click, or a key; the button closes what is open, or opens all.
if (drawings.length > 1) {
  $("fold").hidden = false;
  $("fold").addEventListener("click", () => draw(drawing === drawings[1] ? 0 : 1));
}
for (const { boxes, groups } of [...wideDrawings, ...narrowDrawings])
  boxes.forEach(({ results, words }, k) => {
    if (!words) return;
    const group = groups[k];
    const place = (page.opened ?? []).findIndex((each) => each.fold === drawings[1].boxOf[results[0]]);
    const open = () => draw(place < 0 ? 0 : place + 2, results[0]);
    for (const [name, value] of Object.entries({ class: "folded", tabindex: "0", role: "button", "aria-label": `Open: ${words}` }))
      group.setAttribute(name, value);
    group.append(element("title", {}, `${words}: click to open`));
    group.addEventListener("click", open);
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      open();
    });
  });

inputs();
update(true);
draw(drawings.length > 1 ? 1 : 0);
