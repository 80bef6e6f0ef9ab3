// The page of the playground: what is typed goes to Python in a worker, and its answers are shown as text and pictures.
const SVG = "http://www.w3.org/2000/svg";
const MIN_COLUMNS = 36, MAX_COLUMNS = 140;
const settings = JSON.parse(document.getElementById("settings").textContent);
const byId = (id) => document.getElementById(id);
const line = byId("line"), answers = byId("answers"), status = byId("status"), stop = byId("stop");

function made(name, about = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(about)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// ---- Python
let worker = null, waiting = new Map(), asked = 0;
const named = []; // lines that gave names a meaning, for a worker that is started again

function ask(kind, told = {}) {
  asked += 1;
  const id = asked;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    worker.postMessage({ id, kind, ...told });
  });
}

function start() {
  worker = new Worker("worker.js", { type: "module" });
  worker.onmessage = ({ data: { id, answer, fault } }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (fault === undefined) resolve(answer);
    else reject(new Error(fault));
  };
  worker.onerror = (event) => {
    for (const { reject } of waiting.values()) reject(new Error(event.message || "the worker could not be started"));
    waiting = new Map();
  };
  return ask("load", { pyodide: settings.pyodide, archive: settings.archive });
}

async function restart() {
  worker.terminate();
  for (const { reject } of waiting.values()) reject(new Error("stopped"));
  waiting = new Map();
  say("Loading Python …");
  await start();
  for (const text of named) await ask("line", { line: text, columns: MAX_COLUMNS });
  say(named.length ? "Ready; the names of this page are defined again." : "Ready.");
}

// ---- answers
function say(text) { status.textContent = text; }

function columns() {
  const ruler = made("pre", { class: "ruler" }, "0".repeat(100));
  answers.append(ruler);
  const wide = ruler.getBoundingClientRect().width / 100;
  ruler.remove();
  return Math.max(MIN_COLUMNS, Math.min(MAX_COLUMNS, Math.floor(answers.clientWidth / wide) - 1));
}

// Text with escapes for colours, as elements: nothing of it is read as HTML.
function coloured(text) {
  const pre = made("pre", { tabindex: "0" });
  let classes = [];
  for (const [k, piece] of text.split(/\x1b\[([\d;]*)m/).entries()) {
    if (k % 2) {
      const codes = piece.split(";").filter((code) => code !== "" && code !== "0");
      classes = codes.length ? [...classes, ...codes.map((code) => `s${code}`)] : [];
    } else if (piece) {
      pre.append(classes.length ? made("span", { class: classes.join(" ") }, piece) : piece);
    }
  }
  return pre;
}

// A picture of the program is shown as an image: a script in it could not run.
function image(text, title) {
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  const described = /<desc>([^<]*)<\/desc>/.exec(text);
  const plain = made("textarea");
  plain.innerHTML = described ? described[1] : title; // entities only: a textarea has no elements
  return made("figure", { class: "scroll", tabindex: "0" }, made("img", { src: url, alt: plain.value }));
}

function framed(text) {
  const frame = made("iframe", { src: "frame.html", sandbox: "allow-scripts", title: "A page that steps through the formula" });
  const ready = (event) => {
    if (event.source !== frame.contentWindow || event.data !== "ready") return;
    removeEventListener("message", ready);
    frame.contentWindow.postMessage(text, "*");
  };
  addEventListener("message", ready);
  return frame;
}

const PICTURES = { svg: image, html: framed, plot: (text) => plotted(JSON.parse(text)) };

async function run(text) {
  const article = made("article", { "aria-label": `Answer to ${text}` });
  const link = made("a", { href: address(text) }, "link");
  link.title = "A link to this page that runs the line";
  article.append(made("h2", {}, made("span", { class: "typed" }, text), link));
  answers.append(article);
  stop.hidden = false;
  say("Working …");
  try {
    const { code, parts, names, files } = await ask("line", { line: text, columns: columns() });
    if (names) named.push(text);
    for (const part of parts) {
      const picture = PICTURES[part.kind];
      const shown = picture ? picture(part.text, text) : coloured(part.text.replace(/\n$/, ""));
      if (part.kind === "err" && code) shown.classList.add("wrong");
      article.append(shown);
    }
    for (const name of files) article.append(await download(name));
    say("");
  } catch (fault) {
    article.append(made("pre", { class: "wrong" }, fault.message));
    say("");
  }
  await reveal(article);
  stop.hidden = true;
}

// The prompt stays at the bottom of the window: an answer is shown above it, a long one from its beginning.
async function reveal(article) {
  await Promise.allSettled([...article.querySelectorAll("img")].map((picture) => picture.decode()));
  const covered = byId("prompt").offsetHeight, isLong = article.offsetHeight > innerHeight - covered;
  article.style.scrollMarginBottom = `${covered}px`;
  article.scrollIntoView({ block: isLong ? "start" : "nearest" });
}

async function download(name) {
  const bytes = await ask("read", { name });
  const link = made("a", { href: URL.createObjectURL(new Blob([bytes])), download: name }, `Save ${name}`);
  return made("p", {}, link);
}

// The part of an address behind `#` is not sent to any server.
function address(text) { return `#${encodeURIComponent(text)}`; }

// ---- plots
function node(name, about, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(about)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

function round(x) { return String(Number(x.toPrecision(6))); }

function ticks(low, high, most = 5) {
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((width) => width >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k += 1) found.push(Number((k * step).toPrecision(12)));
  return found;
}

function extent(values) {
  const finite = values.filter(Number.isFinite).sort((a, b) => a - b);
  if (!finite.length) return [-1, 1];
  // Poles would flatten the rest: what is far beyond the middle of the values is left out.
  const at = (share) => finite[Math.round(share * (finite.length - 1))];
  const [low, high] = [at(0.02), at(0.98)], wide = high - low || Math.abs(high) || 1;
  return [Math.max(finite[0], low - wide / 2) - wide * 0.05, Math.min(finite.at(-1), high + wide / 2) + wide * 0.05];
}

function frameOf(record, width, height, vertical) {
  const margin = { left: 62, right: 12, top: 10, bottom: 40 };
  const [name] = record.variables, [low, high] = record.range[name], [bottom, top] = vertical;
  const across = (x) => margin.left + (x - low) / (high - low) * (width - margin.left - margin.right);
  const up = (y) => height - margin.bottom - (y - bottom) / (top - bottom) * (height - margin.top - margin.bottom);
  return { margin, low, high, bottom, top, across, up, width, height };
}

function axes(svg, frame, labels) {
  const { margin, low, high, bottom, top, across, up, width, height } = frame;
  svg.append(node("rect", { class: "frame", x: margin.left, y: margin.top, width: width - margin.left - margin.right, height: height - margin.top - margin.bottom }));
  for (const x of ticks(low, high)) svg.append(node("text", { x: across(x), y: height - margin.bottom + 16, "text-anchor": "middle" }, round(x)));
  for (const y of ticks(bottom, top)) svg.append(node("text", { x: margin.left - 6, y: up(y) + 4, "text-anchor": "end" }, round(y)));
  svg.append(node("text", { x: (margin.left + width - margin.right) / 2, y: height - 6, "text-anchor": "middle" }, labels[0]));
  if (labels[1]) svg.append(node("text", { x: margin.left + 6, y: margin.top + 14 }, labels[1]));
  if (bottom < 0 && top > 0) svg.append(node("path", { class: "axis", d: `M${margin.left} ${up(0)}H${width - margin.right}` }));
  if (low < 0 && high > 0) svg.append(node("path", { class: "axis", d: `M${across(0)} ${margin.top}V${height - margin.bottom}` }));
}

function plotted(record) {
  return record.function ? curves(record) : heights(record);
}

function curves(record) {
  const width = Math.min(640, answers.clientWidth), height = Math.round(width * 0.65), [name] = record.variables;
  const points = [...record.function, ...record.derivative].flat();
  const frame = frameOf(record, width, height, extent(points.map((point) => point[1])));
  const svg = node("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
  svg.append(node("title", {}, `${record.expr} and its derivative, for ${name} from ${round(frame.low)} to ${round(frame.high)}`));
  axes(svg, frame, [name, ""]);
  const clip = node("clipPath", { id: `clip${asked}` });
  clip.append(node("rect", { x: frame.margin.left, y: frame.margin.top, width: width - frame.margin.left - frame.margin.right, height: height - frame.margin.top - frame.margin.bottom }));
  svg.append(clip);
  const inside = node("g", { "clip-path": `url(#clip${asked})` });
  const drawn = (pieces, of) => {
    for (const piece of pieces) {
      const way = piece.map(([x, y], k) => `${k ? "L" : "M"}${frame.across(x).toFixed(1)} ${Math.max(-2000, Math.min(3000, frame.up(y))).toFixed(1)}`);
      inside.append(node("path", { class: of, d: way.join("") }));
    }
  };
  drawn(record.derivative, "second");
  drawn(record.function, "first");
  if (record.point && record.value !== null) {
    const x = record.point[name], slope = record.gradient && record.gradient[name];
    if (Number.isFinite(slope)) drawn([[frame.low, frame.high].map((end) => [end, record.value + slope * (end - x)])], "tangent");
    inside.append(node("circle", { cx: frame.across(x), cy: frame.up(record.value), r: 4 }));
  }
  svg.append(inside);
  const tangent = record.linear ? `; tangent: ${record.linear}` : "";
  const words = `Blue: ${record.expr}; dashed: its derivative, ${record.formula ?? "as computed"}${tangent}`;
  return made("figure", { class: "scroll", tabindex: "0" }, svg, made("figcaption", {}, words));
}

function heights(record) {
  const { x, y, heights: rows } = record, finite = rows.flat().filter(Number.isFinite);
  const [low, high] = extent(finite), canvas = made("canvas", { width: x.length, height: y.length, role: "img" });
  const pen = canvas.getContext("2d"), picture = pen.createImageData(x.length, y.length);
  rows.forEach((row, j) => row.forEach((value, i) => {
    const share = Math.max(0, Math.min(1, (value - low) / (high - low)));
    const band = Math.floor(share * 12) / 12, at = 4 * ((y.length - 1 - j) * x.length + i);
    picture.data.set(Number.isFinite(value) ? [40 + 215 * band, 60 + 150 * band, 160 - 100 * band, 255] : [128, 128, 128, 255], at);
  }));
  pen.putImageData(picture, 0, 0);
  const [across, up] = record.variables, ends = (name) => `${name} from ${round(record.range[name][0])} to ${round(record.range[name][1])}`;
  const words = `${record.expr}: ${ends(across)}, rightwards; ${ends(up)}, upwards. Dark is ${round(low)}, bright ${round(high)}.`;
  canvas.setAttribute("aria-label", words);
  return made("figure", {}, canvas, made("figcaption", {}, words));
}

// ---- the prompt
const earlier = [];
let place = 0, leaves = false;

byId("prompt").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = line.value;
  if (!text.trim()) return;
  earlier.push(text);
  place = earlier.length;
  line.value = "";
  history.replaceState(null, "", address(text));
  run(text);
});

line.addEventListener("keydown", async (event) => {
  if (event.key === "ArrowUp" || event.key === "ArrowDown") {
    event.preventDefault();
    place = Math.max(0, Math.min(earlier.length, place + (event.key === "ArrowUp" ? -1 : 1)));
    line.value = earlier[place] ?? "";
  } else if (event.key === "Tab" && !event.shiftKey && !leaves && line.value && stop.hidden) {
    event.preventDefault();
    const before = line.value.slice(0, line.selectionStart), after = line.value.slice(line.selectionStart);
    const { start: word, endings } = await ask("complete", { text: before });
    if (endings.length === 1) {
      line.value = before.slice(0, before.length - word.length) + endings[0] + after;
    } else {
      say(endings.length ? endings.slice(0, 40).join("  ") : "Nothing completes this word; Escape, then Tab, goes on.");
    }
  }
  leaves = event.key === "Escape";
});

stop.addEventListener("click", restart);

byId("file").addEventListener("change", async ({ target }) => {
  for (const file of target.files) {
    await ask("add", { name: file.name, bytes: await file.arrayBuffer() });
    say(`${file.name} is here: name it in a command, such as --data ${file.name}.`);
  }
  target.value = "";
});

for (const { title, lines } of settings.examples) {
  byId("examples").lastElementChild.append(made("h2", {}, title));
  for (const text of lines) {
    const button = made("button", { type: "button" }, text);
    button.addEventListener("click", () => { line.value = text; byId("prompt").requestSubmit(); });
    byId("examples").lastElementChild.append(button);
  }
}

async function begin() {
  if (location.protocol === "file:") {
    say("A browser reads these files from a server only: in this folder run python3 -m http.server, and open http://localhost:8000.");
    return;
  }
  try {
    await start();
    say("Ready.");
    document.body.dataset.ready = "";
  } catch (fault) {
    say(fault.message);
    status.classList.add("wrong");
    return;
  }
  const typed = location.hash.length > 1 ? [decodeURIComponent(location.hash.slice(1))] : settings.lines;
  for (const text of typed) { earlier.push(text); await run(text); }
  place = earlier.length;
}

begin();
