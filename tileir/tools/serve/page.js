"use strict";
// The page of a program. `state` is what the user has chosen; `results` what the server has answered, by pane. A saved
// page has both inside, and asks no server.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const LAUNCHES = ["run", "sanitize"], WAIT = 350, MOST_ROWS = 20000;
const state = { ...data.state };
let results = data.results ?? {}, checked = data.checked ?? { diagnostics: [], kernels: [] };
const saved = data.results !== undefined;
const element = (tag, text, name) => Object.assign(document.createElement(tag), { textContent: text ?? "", className: name ?? "" });
const hue = (line) => (line * 47) % 360;
const pending = new Set();
let picked = 0, asked = 0, timer = 0;

// ------------------------------------------------------------ lines in colour

function paint(row, line) {
  if (!line) return;
  row.dataset.hue = line;
  row.style.setProperty("--hue", hue(line));
  // A pane that scrolls under a pointer at rest tells of it like of a movement.
  row.onmousemove = (event) => (event.movementX || event.movementY) && pick(line);
  row.onclick = () => { pick(line); reveal(line, row.parentElement); };
}

function pick(line) {
  if (picked === line) return;
  picked = line;
  document.querySelectorAll(".on").forEach((row) => row.classList.remove("on"));
  if (line) document.querySelectorAll(`[data-hue="${line}"]`).forEach((row) => row.classList.add("on"));
}

function reveal(line, except) {
  for (const rows of document.querySelectorAll(".rows")) {
    if (rows === except) continue;
    const first = rows.querySelector(`[data-hue="${line}"]`);
    if (first) rows.scrollTop = first.offsetTop - rows.offsetTop - rows.clientHeight / 3;
  }
}

function linkedLines() {
  const found = new Set();
  for (const answer of Object.values(results)) {
    for (const part of answer.parts ?? []) part.lines.forEach((line) => line && found.add(line));
  }
  return found;
}

function drawUnder() {
  const linked = linkedLines(), rows = document.createDocumentFragment();
  const severity = new Map(diagnostics().map((one) => [one.line, one.severity]));
  $("text").value.split("\n").forEach((text, at) => {
    const row = element("div", text || " ", severity.get(at + 1));
    row.dataset.line = at + 1;
    if (linked.has(at + 1)) {
      row.dataset.hue = at + 1;
      row.style.setProperty("--hue", hue(at + 1));
    }
    if (at + 1 === picked) row.classList.add("on");
    rows.append(row);
  });
  $("under").replaceChildren(rows);
  follow();
}

function follow() {
  $("under").scrollTop = $("text").scrollTop;
  $("under").scrollLeft = $("text").scrollLeft;
}

function lineUnder(event) {
  const style = getComputedStyle($("text")), height = parseFloat(style.lineHeight);
  const top = event.clientY - $("text").getBoundingClientRect().top - parseFloat(style.paddingTop) + $("text").scrollTop;
  return Math.floor(top / height) + 1;
}

// ------------------------------------------------------------ diagnostics

function diagnostics() {
  const found = [...checked.diagnostics];
  for (const name of LAUNCHES) if (state.panes.includes(name)) found.push(...(results[name]?.findings ?? []));
  return found;
}

function drawDiagnostics() {
  $("diagnostics").replaceChildren(...diagnostics().map((one) => {
    const place = one.line ? `${one.line}:${one.column}: ` : "";
    const row = element("button", `${place}${one.severity}[${one.code}]: ${one.message}${one.hint ? `\nhint: ${one.hint}` : ""}`, one.severity);
    row.onclick = () => go(one.line, one.column);
    return row;
  }));
}

function go(line, column) {
  if (!line) return;
  const rows = $("text").value.split("\n"), begin = rows.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  $("text").focus();
  $("text").setSelectionRange(begin + column - 1, begin + column - 1);
  const height = parseFloat(getComputedStyle($("text")).lineHeight);
  $("text").scrollTop = Math.max(0, (line - 6) * height);
  pick(line);
  reveal(line);
}

// ------------------------------------------------------------ panes

function drawPane(name) {
  const pane = document.querySelector(`[data-pane="${CSS.escape(name)}"]`), answer = results[name];
  if (!pane) return;
  const rows = pane.querySelector(".rows"), made = document.createDocumentFragment();
  pane.classList.toggle("stale", answer === undefined);
  if (answer === undefined) return;
  if (answer.error) made.append(element("div", answer.error, "fault"));
  let count = 0;
  for (const part of answer.parts ?? []) {
    if (part.title) made.append(element("h3", part.title));
    part.text.split("\n").forEach((text, at) => {
      if (++count > MOST_ROWS) return;
      const mark = { "+": "new", "-": "old" }[part.marks[at]];
      const row = element("div", text || " ", mark);
      paint(row, part.lines[at]);
      made.append(row);
    });
  }
  if (count > MOST_ROWS) made.append(element("div", `and ${count - MOST_ROWS} lines more`, "fault"));
  rows.replaceChildren(made);
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
  $("shown").replaceChildren(...state.panes.map((name) => {
    const pane = element("section", "", "pane"), heading = element("h2", name), rows = element("div", "", "rows");
    pane.dataset.pane = name;
    heading.append(element("span"));
    rows.tabIndex = 0;
    pane.append(heading, rows);
    return pane;
  }));
  state.panes.forEach(drawPane);
  drawDiagnostics();
  drawUnder();
}

function drawKernels() {
  const names = checked.kernels.map((one) => one.name);
  if (names.length && !names.includes(state.kernel)) state.kernel = names[0];
  $("kernel").replaceChildren(...names.map((name) => new Option(`@${name}`, name, false, name === state.kernel)));
  const kernel = checked.kernels.find((one) => one.name === state.kernel);
  if (kernel) $("arguments").title = kernel.parameters.map((one) => `${one.name}: ${one.type}`).join("\n");
}

// ------------------------------------------------------------ the server

async function send(pane) {
  const level = state.level === "chosen" ? 0 : Number(state.level), passes = state.level === "chosen" ? state.passes : "";
  const { text, kernel, arch, grid, target } = state;
  const body = JSON.stringify({ pane, text, kernel, level, passes, arch, grid, target, arguments: state.arguments });
  try {
    const answer = await fetch("work", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    return await answer.json();
  } catch {
    return { error: "the server does not answer" };
  }
}

async function ask(name, turn) {
  if (pending.has(name) || results[name] !== undefined) return;
  pending.add(name);
  const begin = performance.now(), answer = await send(name);
  if (turn !== asked) return;
  pending.delete(name);
  const known = new Set(checked.diagnostics.map((one) => JSON.stringify(one)));
  answer.findings = LAUNCHES.includes(name) ? (answer.diagnostics ?? []).filter((one) => !known.has(JSON.stringify(one))) : [];
  answer.seconds = (performance.now() - begin) / 1000;
  results[name] = answer;
  drawPane(name);
  drawDiagnostics();
  drawUnder();
}

async function refresh() {
  const turn = ++asked;
  results = {};
  pending.clear();
  drawPanes();
  say("checking");
  const answer = await send("check");
  if (turn !== asked) return;
  if (answer.error) return say(answer.error);
  checked = { diagnostics: answer.diagnostics, kernels: answer.kernels };
  drawKernels();
  drawDiagnostics();
  drawUnder();
  const errors = checked.diagnostics.filter((one) => one.severity === "error").length;
  if (errors) return say(`${errors} error${errors === 1 ? "" : "s"}`);
  say("working");
  for (let name; (name = state.panes.find((one) => results[one] === undefined)) !== undefined && turn === asked; ) await ask(name, turn);
  if (turn === asked) say("");
}

const say = (text) => { $("state").textContent = text; };
function later() {
  clearTimeout(timer);
  if (!saved) timer = setTimeout(refresh, WAIT);
}

// ------------------------------------------------------------ files

function savedPage() {
  const copy = document.documentElement.cloneNode(true), content = { ...data, state, results, checked };
  const text = JSON.stringify(content).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  copy.querySelector("#data").textContent = text;
  for (const id of ["panes", "shown", "under", "diagnostics", "kernel", "arch"]) copy.querySelector(`#${id}`).replaceChildren();
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
    const other = JSON.parse(content.textContent).state;
    for (const name of Object.keys(state)) if (typeof other[name] === typeof state[name]) state[name] = other[name];
    state.panes = (Array.isArray(other.panes) ? other.panes : []).filter((name) => data.panes.includes(name));
  } catch {
    return say(`${file.name}: expected a file that this page has saved`);
  }
  fill();
  if (!saved) refresh();
}

// ------------------------------------------------------------ the beginning

const FIELDS = ["text", "grid", "arguments", "target", "level", "passes", "arch"];
function fill() {
  for (const name of FIELDS) $(name).value = state[name];
  $("passes").hidden = state.level !== "chosen";
  drawKernels();
  drawPanes();
}

$("arch").replaceChildren(...data.archs.map((name) => new Option(name, name)));
for (const name of FIELDS) {
  $(name).addEventListener("input", () => {
    state[name] = $(name).value;
    $("passes").hidden = state.level !== "chosen";
    if (name === "text") drawUnder();
    later();
  });
}
$("kernel").onchange = () => { state.kernel = $("kernel").value; later(); };
$("launch").onsubmit = (event) => event.preventDefault();
$("text").onscroll = follow;
$("text").onmousemove = (event) => (event.movementX || event.movementY) && pick(lineUnder(event));
$("text").onclick = () => reveal(picked);
$("text").readOnly = saved;
$("text").onkeydown = (event) => {
  if (event.key === "Tab" && !event.shiftKey && !saved) {
    event.preventDefault();
    document.execCommand("insertText", false, "  ");
  }
};
$("save").onclick = save;
$("open").onchange = () => $("open").files.length && open($("open").files[0]);
fill();
if (saved) say("saved: what the server had answered");
else refresh();
