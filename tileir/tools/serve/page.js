"use strict";
// The page of a program. `state` is what the user has chosen; `results` the last answers, by pane, and those in `stale`
// belong to an earlier text. A saved page has answers inside, and asks nobody; the playground asks a worker of the
// browser, any other page its server.
const LAUNCHES = ["run", "sanitize"], GPU = ["TTIR", "TTGIR", "PTX", "SASS"], TILE_IR = ["Tile IR", "passes"];
const WAIT = 350, MOST_ROWS = 20000, FOLDED = 12, CONTEXT = 3;
const state = { ...data.state };
let results = data.results ?? {}, checked = data.checked ?? { diagnostics: [], kernels: [] };
const saved = data.results !== undefined, stale = new Set();
const hue = (line) => (line * 47) % 360;
const pending = new Set();
let picked = 0, asked = 0, timer = 0, filled = "";

// ------------------------------------------------------------ the language

const SORTS = data.sorts.map(([scope, expression]) => [scope, new RegExp(expression, "y")]);
const CLASSES = [
  ["comment", "comment"], ["string", "string"], ["entity.name", "name"], ["keyword", "keyword"], ["support.function", "operation"],
  ["storage.type", "type"], ["support.type", "type"], ["constant", "number"], ["variable.other", "value"],
];
const classOf = (scope) => CLASSES.find(([begin]) => scope.startsWith(begin))?.[1] ?? "";

function tokenAt(text, at) {
  for (const [scope, expression] of SORTS) {
    expression.lastIndex = at;
    const found = expression.exec(text);
    if (found && found[0]) return [found[0].length, classOf(scope)];
  }
  return [1, ""];
}

function coloured(text) {
  const parts = [];
  for (let at = 0; at < text.length; ) {
    const [length, name] = tokenAt(text, at), token = text.slice(at, at + length);
    parts.push(name ? element("span", token, `tok-${name}`) : token);
    at += length;
  }
  return parts;
}

// ------------------------------------------------------------ the editor

const { EditorState, EditorView, StateEffect, StateField, Decoration, tags } = CodeMirror;
const TAGS = {
  comment: tags.lineComment, string: tags.string, name: tags.definition(tags.name), keyword: tags.keyword, operation: tags.standard(tags.name),
  type: tags.typeName, number: tags.number, value: tags.local(tags.name),
};
const language = CodeMirror.StreamLanguage.define({
  token(stream) {
    const [length, name] = tokenAt(stream.string, stream.pos);
    stream.pos += length;
    return name || null;
  },
  tokenTable: TAGS,
  languageData: { commentTokens: { line: "//" } },
});
const colours = CodeMirror.HighlightStyle.define(Object.entries(TAGS).map(([name, tag]) => ({ tag, class: `tok-${name}` })));
const relink = StateEffect.define();
const links = StateField.define({
  create: () => Decoration.none,
  update: (found, change) => (change.effects.some((one) => one.is(relink)) ? lineMarks(change.state.doc) : found.map(change.changes)),
  provide: (field) => EditorView.decorations.from(field),
});

function lineMarks(doc) {
  const linked = linkedLines(), marks = [];
  for (let line = 1; line <= doc.lines; line++) {
    if (!linked.has(line) && line !== picked) continue;
    const attributes = { "data-line": line, ...(linked.has(line) ? { "data-hue": line, style: `--hue:${hue(line)}` } : {}) };
    marks.push(Decoration.line({ attributes, class: line === picked ? "on" : "" }).range(doc.line(line).from));
  }
  return Decoration.set(marks);
}

const editor = new EditorView({
  parent: $("paper"),
  state: EditorState.create({
    doc: state.text,
    extensions: [
      CodeMirror.lineNumbers(), CodeMirror.history(), CodeMirror.bracketMatching(), CodeMirror.highlightSelectionMatches(),
      CodeMirror.indentUnit.of("  "), CodeMirror.lintGutter(), language, CodeMirror.syntaxHighlighting(colours), links,
      CodeMirror.keymap.of([CodeMirror.indentWithTab, ...CodeMirror.searchKeymap, ...CodeMirror.historyKeymap, ...CodeMirror.defaultKeymap]),
      EditorState.readOnly.of(saved),
      EditorView.contentAttributes.of({ "aria-label": "program", "aria-describedby": "keys", tabindex: "0" }),
      EditorView.updateListener.of(changed),
      EditorView.domEventHandlers({
        mousemove: (event, view) => { if (event.movementX || event.movementY) pick(lineUnder(view, event)); },
        click: () => { reveal(picked); },
      }),
    ],
  }),
});

function changed(update) {
  if (update.docChanged) {
    state.text = update.state.doc.toString();
    later();
  }
  if (update.selectionSet || update.docChanged) setTimeout(() => pick(cursorLine()));
}

const cursorLine = () => editor.state.doc.lineAt(editor.state.selection.main.head).number;

function lineUnder(view, event) {
  const block = view.lineBlockAtHeight(event.clientY - view.documentTop);
  return view.state.doc.lineAt(block.from).number;
}

function replaceText(text) {
  if (text !== editor.state.doc.toString()) editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
}

function drawLinks() {
  editor.dispatch({ effects: relink.of(null) });
}

function go(line, column) {
  if (!line || line > editor.state.doc.lines) return;
  const found = editor.state.doc.line(line), at = Math.min(found.to, found.from + column - 1);
  editor.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
  editor.focus();
  pick(line);
  reveal(line);
}

// ------------------------------------------------------------ lines that belong together

function paint(row, line) {
  if (!line) return;
  row.dataset.hue = line;
  row.style.setProperty("--hue", hue(line));
  // A pane that scrolls under a pointer at rest tells of it like of a movement.
  row.onmousemove = (event) => (event.movementX || event.movementY) && pick(line);
  row.onclick = () => { pick(line); reveal(line, row.closest(".rows")); };
}

function pick(line) {
  if (picked === line) return;
  picked = line;
  document.querySelectorAll(".rows .on").forEach((row) => row.classList.remove("on"));
  const rows = line ? document.querySelectorAll(`.rows [data-hue="${line}"]`) : [];
  rows.forEach((row) => row.classList.add("on"));
  document.body.classList.toggle("marking", rows.length > 0);
  drawLinks();
  if (state.panes.includes("explain") && !saved) explainLater();
}

function reveal(line, except) {
  for (const rows of document.querySelectorAll(".rows")) {
    const first = rows === except ? null : rows.querySelector(`[data-hue="${line}"]`);
    if (!first) continue;
    if (first.closest("details")) first.closest("details").open = true;
    rows.scrollTop = first.offsetTop - rows.clientHeight / 3;
  }
  if (except && line && line <= editor.state.doc.lines) {
    editor.dispatch({ effects: EditorView.scrollIntoView(editor.state.doc.line(line).from, { y: "nearest", yMargin: 40 }) });
  }
}

function stepMark(rows, step) {
  const lines = [...rows.querySelectorAll("[data-hue]")].filter((row) => row.offsetParent !== null);
  const at = lines.findIndex((row) => row.classList.contains("on"));
  const last = lines.findLastIndex((row) => row.classList.contains("on"));
  const next = lines[at < 0 ? 0 : Math.max(0, step < 0 ? at - 1 : last + 1)];
  if (!next) return;
  pick(Number(next.dataset.hue));
  next.scrollIntoView({ block: "nearest" });
  reveal(picked, rows);
}

function linkedLines() {
  const found = new Set();
  for (const answer of Object.values(results)) {
    for (const part of answer.parts ?? []) part.lines.forEach((line) => line && found.add(line));
  }
  return found;
}

// ------------------------------------------------------------ diagnostics

function diagnostics() {
  const found = [...checked.diagnostics];
  for (const name of LAUNCHES) if (state.panes.includes(name)) found.push(...(results[name]?.findings ?? []));
  return found;
}

function drawDiagnostics() {
  const doc = editor.state.doc, found = diagnostics();
  $("diagnostics").replaceChildren(...found.map((one) => {
    const place = one.line ? `${one.line}:${one.column}: ` : "";
    const row = element("button", `${place}${one.severity}[${one.code}]: ${one.message}${one.hint ? `\nhint: ${one.hint}` : ""}`, one.severity);
    row.onclick = () => go(one.line, one.column);
    return row;
  }));
  const shown = found.filter((one) => one.line && one.line <= doc.lines).map((one) => {
    const line = doc.line(one.line), from = Math.min(line.to, line.from + one.column - 1);
    const word = /^[%@]?[\w$.]+/.exec(line.text.slice(from - line.from));
    return { from, to: Math.min(line.to, from + (word ? word[0].length : 1)), severity: one.severity, source: one.code, message: one.message + (one.hint ? `\nhint: ${one.hint}` : "") };
  });
  editor.dispatch(CodeMirror.setDiagnostics(editor.state, shown.map((one) => ({ ...one, severity: ["error", "warning"].includes(one.severity) ? one.severity : "info" }))));
}

// ------------------------------------------------------------ panes

function rowsOf(part, name) {
  const plain = !TILE_IR.includes(name);
  return part.text.split("\n").slice(0, MOST_ROWS).map((text, at) => {
    const row = element("div", plain ? text || " " : "", { "+": "new", "-": "old" }[part.marks[at]]);
    if (!plain) row.append(...(text ? coloured(text) : [" "]));
    paint(row, part.lines[at]);
    return row;
  });
}

function foldInto(made, rows, linked) {
  // What belongs to no line of the program, such as declarations, is folded away: panes open at the kernel.
  for (let at = 0; at < rows.length; ) {
    let end = at;
    while (linked && end < rows.length && !rows[end].dataset.hue) end++;
    const keep = end === rows.length ? 0 : CONTEXT;
    if (end - at - keep >= FOLDED) {
      const fold = element("details", "", "fold");
      fold.append(element("summary", `${end - at - keep} lines`), ...rows.slice(at, end - keep));
      made.append(fold, ...rows.slice(end - keep, end));
    } else made.append(...rows.slice(at, Math.max(end, at + 1)));
    at = Math.max(end, at + 1);
  }
}

function pictureOf(one) {
  const range = `${Number(one.low.toPrecision(4))} to ${Number(one.high.toPrecision(4))}`;
  const figure = element("figure"), canvas = element("canvas"), scale = Math.max(1, Math.min(16, Math.floor(360 / Math.max(one.rows, one.columns))));
  drawCells(one, canvas);
  canvas.style.width = `${one.columns * scale}px`;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${one.name}, ${range}`);
  figure.append(element("figcaption", `${one.name}  ${range}`), canvas);
  return figure;
}

function drawPane(name) {
  const pane = document.querySelector(`[data-pane="${CSS.escape(name)}"]`), answer = results[name];
  if (!pane) return;
  pane.classList.toggle("stale", answer === undefined || stale.has(name));
  if (answer === undefined) return;
  const made = document.createDocumentFragment();
  if (answer.error) made.append(element("div", answer.error, "fault"));
  if (answer.pictures?.length) {
    const row = element("div", "", "pictures");
    row.append(...answer.pictures.map(pictureOf));
    made.append(row);
  }
  if (answer.document) {
    const frame = Object.assign(element("iframe"), { title: "the view of this launch" });
    frame.setAttribute("sandbox", "allow-scripts");
    frame.srcdoc = answer.document;
    made.append(frame);
  }
  for (const part of answer.parts ?? []) {
    if (part.title) made.append(element("h3", part.title));
    foldInto(made, rowsOf(part, name), part.lines.some(Boolean) && name !== "passes");
    const more = part.text.split("\n").length - MOST_ROWS;
    if (more > 0) made.append(element("div", `and ${more} lines more`, "fault"));
  }
  pane.querySelector(".rows").replaceChildren(made);
  pane.querySelector("h2 span").textContent = answer.seconds === undefined ? "" : `${answer.seconds.toFixed(2)} s`;
  if (picked) { const line = picked; picked = 0; pick(line); }
}

function drawPanes() {
  $("panes").replaceChildren(...data.panes.map((name) => {
    const button = element("button", name);
    button.setAttribute("aria-pressed", state.panes.includes(name));
    button.onclick = () => {
      state.panes = state.panes.includes(name) ? state.panes.filter((one) => one !== name) : [...state.panes, name];
      drawPanes();
      if (!saved && $("state").textContent === "" && state.panes.includes(name)) ask(name, asked);
    };
    return button;
  }));
  $("of-arch").hidden = !data.panes.some((name) => GPU.includes(name));
  $("shown").replaceChildren(...state.panes.map((name) => {
    const pane = element("section", "", "pane"), heading = element("h2", name), rows = element("div", "", "rows");
    pane.dataset.pane = name;
    heading.append(element("span"));
    rows.tabIndex = 0;
    rows.setAttribute("role", "region");
    rows.setAttribute("aria-label", `${name}; arrow keys move the marked line`);
    rows.onkeydown = (event) => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!step || !rows.querySelector("[data-hue]")) return;
      event.preventDefault();
      stepMark(rows, step);
    };
    pane.append(heading, rows);
    return pane;
  }));
  state.panes.forEach(drawPane);
  drawDiagnostics();
  drawLinks();
}

function drawKernels() {
  const names = checked.kernels.map((one) => one.name);
  if (names.length && !names.includes(state.kernel)) state.kernel = names[0];
  $("kernel").replaceChildren(...names.map((name) => new Option(`@${name}`, name, false, name === state.kernel)));
  const kernel = checked.kernels.find((one) => one.name === state.kernel);
  if (!kernel) return;
  $("arguments").title = kernel.parameters.map((one) => `${one.name}: ${one.type}`).join("\n");
  if (state.arguments === filled && kernel.arguments !== filled && !saved) {
    state.arguments = filled = $("arguments").value = kernel.arguments;
    for (const name of LAUNCHED) stale.add(name);
  }
}

// ------------------------------------------------------------ answers

const LAUNCHED = [...LAUNCHES, "view"];
const transport = data.worker ? workerTransport(data.worker) : serverTransport;

async function serverTransport(request) {
  try {
    const answer = await fetch("work", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request) });
    return await answer.json();
  } catch {
    return { error: "the server does not answer" };
  }
}

function workerTransport(address) {
  // A worker that takes too long is ended, and the next request begins another one.
  let worker = null, number = 0, ready = false;
  const waiting = new Map();
  const end = (why) => {
    worker?.terminate();
    worker = null;
    ready = false;
    for (const one of waiting.values()) one({ error: why });
    waiting.clear();
  };
  const begin = () => {
    worker = new Worker(address, { type: "module" });
    worker.onerror = (event) => end(`the worker cannot run: ${event.message ?? "its file cannot be loaded"}`);
    worker.onmessage = ({ data: { id, answer, loading } }) => {
      if (loading !== undefined) {
        ready = loading === "";
        say(loading);
        if (ready) later();
        return;
      }
      waiting.get(id)?.(answer);
      waiting.delete(id);
    };
  };
  return (request) => new Promise((done) => {
    if (!worker) begin();
    const id = ++number;
    const late = () => (ready ? waiting.has(id) && end(`more time than the ${data.seconds} seconds that a request may take`) : setTimeout(late, 1000 * data.seconds));
    waiting.set(id, done);
    setTimeout(late, 1000 * data.seconds);
    worker.postMessage({ id, request });
  });
}

function send(pane) {
  const level = state.level === "chosen" ? 0 : Number(state.level), passes = state.level === "chosen" ? state.passes : "";
  const { text, kernel, arch, grid, target } = state;
  return transport({ pane, text, kernel, level, passes, arch, grid, target, arguments: state.arguments, line: picked || cursorLine() });
}

async function ask(name, turn) {
  if (pending.has(name) || (results[name] !== undefined && !stale.has(name))) return;
  pending.add(name);
  const begin = performance.now(), answer = await send(name);
  if (turn !== asked) return;
  pending.delete(name);
  const known = new Set(checked.diagnostics.map((one) => JSON.stringify(one)));
  answer.findings = LAUNCHES.includes(name) ? (answer.diagnostics ?? []).filter((one) => !known.has(JSON.stringify(one))) : [];
  answer.seconds = (performance.now() - begin) / 1000;
  stale.delete(name);
  results[name] = answer;
  drawPane(name);
  drawDiagnostics();
  drawLinks();
}

let explaining = 0;
function explainLater() {
  clearTimeout(explaining);
  explaining = setTimeout(() => { stale.add("explain"); ask("explain", asked); }, WAIT);
}

async function refresh() {
  const turn = ++asked;
  Object.keys(results).forEach((name) => stale.add(name));
  pending.clear();
  say("checking");
  const answer = await send("check");
  if (turn !== asked) return;
  if (answer.error) return failed(answer.error);
  checked = { diagnostics: answer.diagnostics, kernels: answer.kernels };
  drawKernels();
  drawDiagnostics();
  const errors = checked.diagnostics.filter((one) => one.severity === "error").length;
  if (errors) {
    if (state.panes.includes("explain")) await ask("explain", turn);
    return failed(`${errors} error${errors === 1 ? "" : "s"}`);
  }
  say("working");
  for (let name; (name = state.panes.find((one) => results[one] === undefined || stale.has(one))) !== undefined && turn === asked; ) await ask(name, turn);
  if (turn === asked) say("");
}

function failed(why) {
  // The last good panes stay, greyed.
  state.panes.forEach(drawPane);
  say(why);
}

const say = (text) => { $("state").textContent = text; };
function later() {
  clearTimeout(timer);
  if (!saved) timer = setTimeout(refresh, WAIT);
}

// ------------------------------------------------------------ files and links

function savedPage() {
  const copy = document.documentElement.cloneNode(true), content = { ...data, state, results, checked };
  const text = JSON.stringify(content).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  copy.querySelector("#data").textContent = text;
  copy.querySelectorAll("head style:not(#style)").forEach((style) => style.remove());
  for (const id of ["panes", "shown", "paper", "diagnostics", "kernel", "arch", "target"]) copy.querySelector(`#${id}`).replaceChildren();
  return `<!doctype html>\n${copy.outerHTML}`;
}

function save() {
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([savedPage()], { type: "text/html" }));
  link.download = `${state.kernel || "program"}.html`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function open(file) {
  const content = new DOMParser().parseFromString(await file.text(), "text/html").getElementById("data");
  try {
    take(JSON.parse(content.textContent).state);
  } catch {
    return say(`${file.name}: expected a file that this page has saved`);
  }
  fill();
  if (!saved) refresh();
}

function take(other) {
  const panes = Array.isArray(other.panes) ? other.panes.filter((name) => data.panes.includes(name)) : state.panes;
  for (const name of Object.keys(state)) if (typeof other[name] === typeof state[name]) state[name] = other[name];
  state.panes = panes;
}

const through = (stream, bytes) => new Response(new Blob([bytes]).stream().pipeThrough(stream));

async function share() {
  const { text, kernel, grid, level, passes, panes } = state;
  const bytes = new TextEncoder().encode(JSON.stringify({ text, kernel, grid, level, passes, panes, arguments: state.arguments }));
  const packed = new Uint8Array(await through(new CompressionStream("deflate-raw"), bytes).arrayBuffer());
  const word = btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  history.replaceState(null, "", `#${word}`);
  try {
    await navigator.clipboard.writeText(location.href);
    say("the link is copied");
  } catch {
    say("the link is the page's address");
  }
}

async function shared() {
  if (!data.worker || location.hash.length < 2) return;
  try {
    const word = location.hash.slice(1).replaceAll("-", "+").replaceAll("_", "/");
    const packed = Uint8Array.from(atob(word), (char) => char.charCodeAt(0));
    const other = JSON.parse(await through(new DecompressionStream("deflate-raw"), packed).text());
    take({ kernel: "", arguments: "", ...other });
  } catch {
    say("the link is damaged");
  }
}

// ------------------------------------------------------------ the splitter

function split(percent) {
  const part = Math.min(85, Math.max(15, percent));
  document.querySelector("main").style.setProperty("--editor", `${part}%`);
  $("splitter").setAttribute("aria-valuenow", Math.round(part));
}

$("splitter").onpointerdown = (event) => {
  event.preventDefault();
  $("splitter").setPointerCapture(event.pointerId);
  $("splitter").onpointermove = (moved) => split((100 * moved.clientX) / innerWidth);
};
$("splitter").onpointerup = () => { $("splitter").onpointermove = null; };
$("splitter").onkeydown = (event) => {
  const step = { ArrowLeft: -2, ArrowRight: 2 }[event.key];
  if (step) split(Number($("splitter").getAttribute("aria-valuenow")) + step);
};

// ------------------------------------------------------------ the beginning

const FIELDS = ["grid", "arguments", "target", "level", "passes", "arch"];
function fill() {
  for (const name of FIELDS) $(name).value = state[name];
  $("passes").hidden = state.level !== "chosen";
  filled = "";
  replaceText(state.text);
  drawKernels();
  drawPanes();
}

async function start() {
  await shared();
  fill();
  if (saved) say("saved: what the server had answered");
  else refresh();
}

$("arch").replaceChildren(...data.archs.map((name) => new Option(name, name)));
$("target").replaceChildren(...data.targets.map((name) => new Option(name, name)));
for (const name of FIELDS) {
  $(name).addEventListener("input", () => {
    state[name] = $(name).value;
    $("passes").hidden = state.level !== "chosen";
    later();
  });
}
$("kernel").onchange = () => { state.kernel = $("kernel").value; drawKernels(); later(); };
$("launch").onsubmit = (event) => event.preventDefault();
$("format").hidden = saved;
$("format").onclick = async () => {
  const answer = await send("format");
  if (answer.error) return say(answer.error);
  if (answer.parts.length) replaceText(answer.parts[0].text);
};
$("share").hidden = !data.worker;
$("share").onclick = share;
addEventListener("hashchange", async () => { await shared(); fill(); refresh(); });
$("save").onclick = save;
$("load").onclick = () => $("open").click();
$("open").onchange = () => $("open").files.length && open($("open").files[0]);
start();
