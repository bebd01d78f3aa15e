"use strict";
// The page of a launch. `chosen` is the selection that all panels follow: operations, a tile block, an execution.
const RECORD = 8, READ = 1, WRITTEN = 2, SHARED = 4;
const MOST_CELLS = 512;
const METRICS = [
  ["order", "order of the tile blocks", (block, at) => at],
  ["operations", "operations", (block) => block[3]],
  ["read", "bytes read", (block) => block[4]],
  ["written", "bytes written", (block) => block[5]],
  ["outside", "lanes outside of views and masks", (block) => block[6]],
  ["seconds", "seconds on the interpreter", (block) => block[7]],
  ...(data.time ? [["native", "seconds on native code", (block) => block[8]]] : []),
];
const chosen = { ops: null, block: null, turn: 0, file: 0 };
const touched = new Int32Array(bytesOf(data.touched).buffer);
const count = touched.length / RECORD;
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const amount = (bytes) => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  while (bytes >= 1024 && at + 1 < units.length) [bytes, at] = [bytes / 1024, at + 1];
  return bytes ? `${at ? bytes.toPrecision(3) : bytes} ${units[at]}` : "";
};
const duration = (seconds) => {
  const [scale, unit] = [[1, "s"], [1e-3, "ms"], [1e-6, "us"]].find(([one]) => seconds >= one) ?? [1e-9, "ns"];
  return seconds ? `${(seconds / scale).toPrecision(3)} ${unit}` : "";
};
const blockName = (at) => `(${data.blocks[at].slice(0, 3).join(", ")})`;
const blockAt = new Map(data.blocks.map((block, at) => [block.slice(0, 3).join(), at]));
const recordsOf = Array.from(data.blocks, () => []);
for (let at = 0; at < count; at++) recordsOf[touched[at * RECORD]].push(at);

function accesses(at) {
  const op = data.ops[touched[at * RECORD + 1] >> 1];
  return (op.read ? READ : 0) | (op.written ? WRITTEN : 0);
}

function isChosen(at) {
  return chosen.ops === null || chosen.ops.has(touched[at * RECORD + 1] >> 1);
}

// ------------------------------------------------------------ selection

function choose(change) {
  Object.assign(chosen, change);
  if (chosen.block !== null) $("order").value = chosen.block;
  drawSource(); drawGrid(); drawArrays(); drawValues(); drawTokens(); drawFindings();
  const words = [];
  if (chosen.block !== null) words.push(`tile block ${blockName(chosen.block)}`);
  if (chosen.ops !== null) words.push([...chosen.ops].map((op) => data.ops[op].name).join(", "));
  $("selection").textContent = words.join("  ·  ");
  $("clear").hidden = !words.length;
}

// ------------------------------------------------------------ source

const WORDS = /(\/\/.*$)|("(?:[^"\\]|\\.)*")|(%[\w$.#-]+)|((?:tile|ptr|tensor_view|partition_view|strided_view|gather_scatter_view|token)(?=[<\s,)]|$)|\b(?:[iuf]\d+\w*|bf16|tf32)\b)|([A-Za-z_][\w$.]*)/g;
const NAMES = new Set(data.ops.map((op) => op.name));
const PYTHON = new Set("def return for in if else elif while import from as with lambda and or not None True False class".split(" "));

function coloured(line, python) {
  const cell = element("td", "", "code");
  let reached = 0;
  const add = (text, name) => cell.append(name ? element("span", text, name) : text);
  for (const found of line.matchAll(python ? /(#.*$)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(\0)|(\0)|([A-Za-z_]\w*)/g : WORDS)) {
    add(line.slice(reached, found.index));
    reached = found.index + found[0].length;
    const word = python ? PYTHON.has(found[5]) : NAMES.has(found[5]) || found[5] === "entry";
    add(found[0], found[1] || found[2] ? "c" : found[3] ? "v" : found[4] ? "t" : word ? "w" : "");
  }
  add(line.slice(reached));
  return cell;
}

function opsByLine(file) {
  const lines = new Map();
  data.ops.forEach((op, at) => {
    for (const [where, line] of op.places) {
      if (where === file) lines.set(line, [...(lines.get(line) ?? []), at]);
    }
  });
  return lines;
}

let sourceRows = new Map();
$("time").hidden = !data.time;
function makeSource() {
  const body = $("source").tBodies[0];
  body.replaceChildren();
  sourceRows = new Map();
  const file = data.files[chosen.file], lines = opsByLine(chosen.file);
  const most = Math.max(1, ...data.ops.flatMap((op) => [op.read, op.written]));
  const time = data.ops.reduce((total, op) => total + (op.seconds ?? 0), 0);
  file.text.split("\n").forEach((text, at) => {
    const ops = lines.get(at + 1) ?? [], row = element("tr");
    const sum = (key) => ops.reduce((total, op) => total + data.ops[op][key], 0);
    const own = Math.max(0, ...ops.map((op) => data.ops[op].count));
    row.append(element("td", String(at + 1)), element("td", own ? String(own) : ""));
    for (const key of ["read", "written"]) {
      const cell = element("td", amount(sum(key)), key === "read" ? "bar" : "bar out");
      cell.style.setProperty("--part", `${(100 * sum(key)) / most}%`);
      row.append(cell);
    }
    if (data.time) {
      const seconds = sum("seconds"), cell = element("td", duration(seconds), "bar time");
      cell.style.setProperty("--part", `${time ? (100 * seconds) / time : 0}%`);
      row.append(cell);
    }
    row.append(coloured(text, file.name.endsWith(".py")));
    if (ops.length) {
      row.className = "has";
      row.tabIndex = 0;
      const outside = sum("outside");
      row.title = ops.map((op) => `${data.ops[op].name}: ${data.ops[op].count} times`).join("\n") + (outside ? `\n${outside} lanes outside` : "");
      const act = () => choose({ ops: chosen.ops?.has(ops[0]) ? null : new Set(ops), turn: 0 });
      row.onclick = act;
      row.onkeydown = (event) => event.key === "Enter" && act();
    }
    body.append(row);
    sourceRows.set(at + 1, { row, ops });
    for (const found of data.findings) {
      if (found.places.some(([where, line]) => where === chosen.file && line === at + 1)) {
        row.classList.add(found.severity);
        const said = element("tr"), cell = element("td", `${found.kind}: ${found.message}`, "message");
        cell.colSpan = data.time ? 6 : 5;
        said.append(cell);
        body.append(said);
      }
    }
  });
}

function drawSource() {
  let first = null;
  for (const { row, ops } of sourceRows.values()) {
    const on = chosen.ops !== null && ops.some((op) => chosen.ops.has(op));
    row.classList.toggle("on", on);
    if (on) first ??= row;
  }
  const around = document.querySelector("#source-panel .scroll");
  if (first && (first.offsetTop < around.scrollTop + 30 || first.offsetTop > around.scrollTop + around.clientHeight - 30)) {
    around.scrollTop = first.offsetTop - around.clientHeight / 2;
  }
}

function makeFiles() {
  $("files").replaceChildren(...data.files.map((file, at) => {
    const button = element("button", file.name.split("/").pop(), at === chosen.file ? "on" : "");
    button.title = file.name;
    button.onclick = () => { chosen.file = at; makeFiles(); makeSource(); drawSource(); };
    return button;
  }));
}

// ------------------------------------------------------------ grid

function gridScale() {
  const [width, height] = data.grid;
  return Math.max(2, Math.floor(Math.min(innerWidth / 48, Math.floor((innerWidth / 3) / Math.max(width, 1.5 * height)))));
}

function drawGrid() {
  const [width, height] = data.grid, size = gridScale(), depth = Number($("depth").value);
  const canvas = $("grid"), pen = canvas.getContext("2d");
  canvas.width = width * size; canvas.height = Math.min(height * size, 16000);
  const [, label, measure] = METRICS[$("metric").selectedIndex];
  const values = data.blocks.map(measure);
  const low = values.reduce((a, b) => Math.min(a, b), Infinity), high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const shown = Number($("order").value);
  data.blocks.forEach((block, at) => {
    if (block[2] !== depth) return;
    const active = chosen.ops === null || recordsOf[at].length === 0 || recordsOf[at].some(isChosen);
    pen.globalAlpha = playing && at > shown ? 0.12 : active ? 1 : 0.3;
    pen.fillStyle = `rgb(${heat(high > low ? (values[at] - low) / (high - low) : 0.4)})`;
    pen.fillRect(block[0] * size, block[1] * size, size - (size > 4 ? 1 : 0), size - (size > 4 ? 1 : 0));
  });
  pen.globalAlpha = 1;
  if (chosen.block !== null && data.blocks[chosen.block][2] === depth) {
    const [x, y] = data.blocks[chosen.block];
    pen.strokeStyle = css("--written"); pen.lineWidth = 3;
    pen.strokeRect(x * size + 0.5, y * size + 0.5, Math.max(3, size - 2), Math.max(3, size - 2));
  }
  const own = chosen.block === null ? "" : `  ${blockName(chosen.block)}: ${amount(values[chosen.block]) && label.includes("bytes") ? amount(values[chosen.block]) : values[chosen.block]}`;
  $("grid-text").textContent = data.blocks.length ? `${label}: ${label.includes("bytes") ? `${amount(low) || 0} to ${amount(high) || 0}` : `${low} to ${high}`}${own}` : "no tile block has begun";
}

function chooseBlock(x, y, z) {
  const at = blockAt.get([x, y, z].join());
  if (at === undefined) return;
  $("order").value = at;
  choose({ block: chosen.block === at ? null : at, turn: 0 });
}

function makeGrid() {
  $("metric").replaceChildren(...METRICS.map(([, label]) => element("option", label)));
  $("metric").onchange = drawGrid;
  $("depth").max = data.grid[2] - 1;
  $("depth-label").hidden = data.grid[2] === 1;
  $("depth").oninput = drawGrid;
  $("order").max = Math.max(0, data.blocks.length - 1);
  $("order").value = 0;
  $("order").oninput = () => show(Number($("order").value));
  $("play").onclick = play;
  $("grid").onclick = (event) => {
    const size = gridScale();
    chooseBlock(Math.floor(event.offsetX / size), Math.floor(event.offsetY / size), Number($("depth").value));
  };
  $("grid").onkeydown = (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const [x, y, z] = chosen.block === null ? [-step[0], -step[1], Number($("depth").value)] : data.blocks[chosen.block];
    chooseBlock(x + step[0], y + step[1], z);
  };
}

let playing = 0;
function show(at) {
  if (!data.blocks.length) return;
  $("depth").value = data.blocks[at][2];
  choose({ block: at, turn: 0 });
}
function play() {
  if (playing) { clearInterval(playing); playing = 0; $("play").textContent = "play"; drawGrid(); return; }
  let at = chosen.block === null || chosen.block + 1 >= data.blocks.length ? 0 : chosen.block;
  const step = Math.max(1, Math.round(data.blocks.length / 400));
  $("play").textContent = "stop";
  playing = setInterval(() => {
    $("order").value = at;
    show(at);
    at += step;
    if (at >= data.blocks.length) play();
  }, Math.max(30, Math.min(400, 12000 / data.blocks.length)));
}

// ------------------------------------------------------------ arrays

function scaleOf(array) {
  return { down: Math.ceil(array.rows / MOST_CELLS), across: Math.ceil(array.columns / MOST_CELLS) };
}

function cellsOf(array) {
  const { down, across } = scaleOf(array);
  return { rows: Math.ceil(array.rows / down), columns: Math.ceil(array.columns / across), down, across };
}

function mark(records, at, cells, marks, owners) {
  for (const one of records) {
    const base = one * RECORD;
    if (touched[base + 2] !== at || !isChosen(one)) continue;
    const [row, column, height, width] = touched.subarray(base + 4, base + 8), what = accesses(one), block = touched[base];
    const bottom = Math.floor((row + height - 1) / cells.down), right = Math.floor((column + width - 1) / cells.across);
    for (let y = Math.floor(row / cells.down); y <= bottom; y++) {
      for (let x = Math.floor(column / cells.across); x <= right; x++) {
        const cell = y * cells.columns + x;
        if (marks[cell] && owners[cell] !== block) marks[cell] |= SHARED;
        owners[cell] = block;
        marks[cell] |= what;
      }
    }
  }
}

const hex = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
const everyRecord = Array.from({ length: count }, (_, at) => at);

function drawTouched(array, at, canvas) {
  const cells = cellsOf(array), size = cells.rows * cells.columns;
  canvas.width = cells.columns; canvas.height = cells.rows;
  const all = new Uint8Array(size), owners = new Int32Array(size);
  mark(everyRecord, at, cells, all, owners);
  let own = all;
  if (chosen.block !== null) {
    own = new Uint8Array(size);
    mark(recordsOf[chosen.block], at, cells, own, new Int32Array(size));
  }
  const pen = canvas.getContext("2d"), image = pen.createImageData(cells.columns, cells.rows);
  const tones = [css("--panel"), css("--read"), css("--written"), css("--both")].map(hex), line = hex(css("--line")), pick = hex(css("--pick"));
  for (let cell = 0; cell < size; cell++) {
    let tone = tones[own[cell] & 3];
    if (chosen.block !== null && !own[cell] && all[cell]) tone = line;
    const diagonal = (Math.floor(cell / cells.columns) + (cell % cells.columns)) % 4 < 2;
    if (all[cell] & SHARED && own[cell] && diagonal && size > 16) tone = pick;
    if (chosen.block === null && own[cell]) {
      const [x, y] = data.blocks[owners[cell]];
      const shade = (x + y) % 2 ? 1 : 0.78;
      tone = tone.map((one) => Math.round(one * shade));
    }
    image.data.set([...tone, 255], cell * 4);
  }
  pen.putImageData(image, 0, 0);
  return all;
}

function makeArrays() {
  $("arrays").replaceChildren(...data.arrays.map((array, at) => {
    const figure = element("figure"), canvas = element("canvas"), cells = cellsOf(array);
    const most = Math.max(160, Math.min(1.5 * MOST_CELLS, ($("arrays").clientWidth - 40) / Math.max(2, Math.min(data.arrays.length, 3))));
    const fit = Math.min(24, most / Math.max(cells.columns, cells.rows));
    canvas.style.width = `${Math.max(8, cells.columns * fit)}px`;
    canvas.style.height = `${Math.max(8, cells.rows * fit)}px`;
    figure.append(element("figcaption", `${array.name}: ${array.dtype}[${array.shape.join(", ")}]`), canvas);
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return [
        Math.min(array.rows - 1, Math.max(0, Math.floor(((event.clientY - box.top) / box.height) * cells.rows) * cells.down)),
        Math.min(array.columns - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * cells.columns) * cells.across)),
      ];
    };
    canvas.onmousemove = (event) => { $("array-text").textContent = elementText(array, at, ...place(event)); };
    canvas.onmouseleave = () => { $("array-text").textContent = ""; };
    canvas.onclick = (event) => {
      const blocks = touching(at, ...place(event));
      if (!blocks.length) return choose({ block: null });
      const next = blocks[(blocks.indexOf(chosen.block) + 1) % blocks.length];
      $("order").value = next;
      show(next);
    };
    return figure;
  }));
  $("mode").onchange = drawArrays;
}

function touching(array, row, column) {
  const blocks = new Set();
  for (let one = 0; one < count; one++) {
    const base = one * RECORD;
    if (touched[base + 2] === array && isChosen(one) && row >= touched[base + 4] && row < touched[base + 4] + touched[base + 6] &&
        column >= touched[base + 5] && column < touched[base + 5] + touched[base + 7]) blocks.add(touched[base]);
  }
  return [...blocks];
}

function indexOf(array, row, column) {
  if (array.shape.length < 2) return [row * array.columns + column];
  const index = [column];
  let rest = row;
  for (let dim = array.shape.length - 2; dim >= 0; dim--) { index.unshift(rest % array.shape[dim]); rest = Math.floor(rest / array.shape[dim]); }
  return index;
}

function elementText(array, at, row, column) {
  const flat = row * array.columns + column, values = $("mode").value === "after" ? (array.after ?? array.before) : array.before;
  const value = values?.exact ? `  ${values.exact[flat]}` : "", blocks = touching(at, row, column);
  const names = blocks.slice(0, 3).map(blockName).join(" ") + (blocks.length > 3 ? ` and ${blocks.length - 3} more` : "");
  return `${array.name}[${indexOf(array, row, column).join(", ")}]${value}  ${blocks.length ? `touched by ${names}` : "untouched"}`;
}

function drawArrays() {
  const mode = $("mode").value;
  [...$("arrays").children].forEach((figure, at) => {
    const array = data.arrays[at], canvas = figure.querySelector("canvas");
    const values = mode === "values" ? array.before : mode === "after" ? (array.after ?? array.before) : null;
    if (values) drawCells(values, canvas); else drawTouched(array, at, canvas);
    const range = values ? `  ${values.low} to ${values.high}` : "";
    figure.querySelector("figcaption").textContent = `${array.name}: ${array.dtype}[${array.shape.join(", ")}]${range}`;
  });
}

// ------------------------------------------------------------ values

function drawValues() {
  const all = data.values.filter((one) => (chosen.block === null || one.block === chosen.block) && (chosen.ops === null || chosen.ops.has(one.op)));
  const kept = new Set(data.values.map((one) => one.block));
  const block = chosen.block ?? (all.length ? all[0].block : null);
  const own = all.filter((one) => one.block === block);
  const turns = own.reduce((most, one) => Math.max(most, one.turn), 0);
  $("turn").max = turns;
  $("turn").value = Math.min(chosen.turn, turns);
  const turn = Number($("turn").value);
  $("turn-text").textContent = own.length ? `${turn + 1} of ${turns + 1} in tile block ${blockName(block)}` : "";
  const shown = own.filter((one) => one.turn === turn).slice(0, 60);
  $("values").replaceChildren(...(shown.length ? shown.map(valueOf) : [element("p", `no values of this here; they were kept of tile blocks ${[...kept].map(blockName).join(" ") || "none"}`, "soft")]));
}

function valueOf(one) {
  const op = data.ops[one.op], box = element("div", "", "value"), table = element("table");
  const line = op.places.find(([file]) => file === chosen.file)?.[1];
  box.append(element("p", `${line ? `${line}: ` : ""}${op.names[one.result]} = ${op.name} → ${op.results[one.result]}`));
  const facts = one.low === null ? "" : `${one.low} to ${one.high}${one.mean === null ? "" : `, mean ${one.mean}`}`;
  box.append(element("p", `${facts}${one.odd ? `, ${one.odd} not finite` : ""}`, "soft"));
  for (const row of one.corner) {
    const line = element("tr");
    line.append(...row.map((value) => element("td", String(value))));
    table.append(line);
  }
  box.append(table);
  return box;
}

// ------------------------------------------------------------ tokens and findings

function drawTokens() {
  const nodes = [...new Set(data.edges.flat())].sort((a, b) => a - b), at = new Map(nodes.map((op, row) => [op, row]));
  if (!nodes.length) return $("tokens").replaceChildren(element("p", "no operation takes a token of another", "soft"));
  const svg = (tag, given) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(given)) made.setAttribute(name, value);
    return made;
  };
  const height = 24, left = 20 + 9 * Math.min(12, Math.max(...data.edges.map(([a, b]) => Math.abs(at.get(b) - at.get(a)))));
  const picture = svg("svg", { width: left + 420, height: nodes.length * height + 8, role: "group", "aria-label": "operations, and the tokens between them" });
  for (const [from, to] of data.edges) {
    const a = at.get(from) * height + 14, b = at.get(to) * height + 14, bend = left - 6 - 9 * Math.min(12, Math.abs(at.get(to) - at.get(from)));
    picture.append(svg("path", { d: `M${left} ${a} C${bend} ${a} ${bend} ${b} ${left} ${b}` }));
  }
  for (const op of nodes) {
    const group = svg("g", { class: chosen.ops?.has(op) ? "on" : "" }), text = svg("text", { x: left + 10, y: at.get(op) * height + 18 });
    const line = data.ops[op].places.find(([file]) => file === chosen.file)?.[1];
    text.textContent = `${line ? `${line}: ` : ""}${data.ops[op].name}`;
    group.append(svg("circle", { cx: left, cy: at.get(op) * height + 14, r: 4 }), text);
    group.addEventListener("click", () => choose({ ops: new Set([op]), turn: 0 }));
    picture.append(group);
  }
  $("tokens").replaceChildren(picture);
}

function drawFindings() {
  const shown = data.findings.map((found) => {
    const box = element("div", "", `finding ${found.severity}`);
    box.append(element("p", `${found.kind}: ${found.message}`));
    if (found.because) box.append(element("p", `because ${found.because}`, "soft"));
    const where = [found.array && `array ${found.array}`, found.blocks?.length && `tile blocks ${found.blocks.map((one) => `(${one.join(", ")})`).join(" ")}`].filter(Boolean).join("; ");
    if (where) box.append(element("p", where, "soft"));
    if (found.hint) box.append(element("p", `hint: ${found.hint}`, "soft"));
    box.onclick = () => {
      const lines = new Set([...found.places, ...found.others].map(([file, line]) => `${file}:${line}`));
      const ops = data.ops.flatMap((op, at) => (op.places.some(([file, line]) => lines.has(`${file}:${line}`)) ? [at] : []));
      const block = found.blocks?.length ? (blockAt.get(found.blocks[0].join()) ?? null) : null;
      choose({ ops: ops.length ? new Set(ops) : null, block, turn: 0 });
    };
    return box;
  });
  const notes = data.notes.map((note) => element("p", note, "soft"));
  $("findings").replaceChildren(...(shown.length ? shown : [element("p", "none", "soft")]), ...notes);
}

// ------------------------------------------------------------ start

function start() {
  $("kernel").textContent = `@${data.kernel}`;
  const sum = (at) => data.blocks.reduce((total, block) => total + block[at], 0);
  $("facts").textContent = `grid ${data.grid.join(" × ")}, ${data.blocks.length} tile blocks, ${sum(3)} operations, ${amount(sum(4)) || 0} read, ${amount(sum(5)) || 0} written`;
  makeFiles(); makeSource(); makeGrid(); makeArrays();
  $("turn").oninput = () => { chosen.turn = Number($("turn").value); drawValues(); };
  $("clear").onclick = () => choose({ ops: null, block: null, turn: 0 });
  addEventListener("keydown", (event) => event.key === "Escape" && $("clear").onclick());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => choose({}));
  choose({});
  const first = [...sourceRows.values()].find(({ ops }) => ops.length);
  if (first) document.querySelector("#source-panel .scroll").scrollTop = first.row.offsetTop - 120;
}

start();
