// The page: an editor, what came of a run, and the worker between them.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import {
  EditorView, drawSelection, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { append } from "./ansi.js";
import examples from "./examples.json";
import messages from "./messages.json";
import { sac } from "./sac.js";
import { packed, unpacked } from "./share.js";

const QUIET = 500; // milliseconds without typing until the text is looked over
const PATIENCE = 700; // milliseconds that an interrupt may take
const MOST = 400_000; // characters of output that stay on the page
const by = (id) => document.getElementById(id);

// ---------------------------------------------------------------- the editor

const colours = HighlightStyle.define([
  { tag: tags.comment, class: "t-comment" },
  { tag: [tags.keyword, tags.atom], class: "t-keyword" },
  { tag: tags.typeName, class: "t-type" },
  { tag: tags.string, class: "t-string" },
  { tag: tags.number, class: "t-number" },
  { tag: tags.meta, class: "t-meta" },
  { tag: tags.namespace, class: "t-namespace" },
  { tag: tags.function(tags.variableName), class: "t-function" },
]);

const shown = [
  lineNumbers(), lintGutter(), history(), drawSelection(), highlightSpecialChars(), indentOnInput(),
  bracketMatching(), highlightActiveLine(), indentUnit.of("  "), sac, syntaxHighlighting(colours),
  keymap.of([
    { key: "Mod-Enter", run: () => (run(), true) },
    { key: "Escape", run: () => running && (stop(), true) },
    indentWithTab, ...defaultKeymap, ...historyKeymap,
  ]),
  EditorView.contentAttributes.of({ "aria-label": "SaC program", spellcheck: "false", autocapitalize: "off" }),
  EditorView.updateListener.of((update) => update.docChanged && changed()),
];
const fresh = (text) => EditorState.create({ doc: text, extensions: shown });

const editor = new EditorView({ parent: by("editor"), state: fresh("") });
const text = () => editor.state.doc.toString();

function open(program) {
  editor.setState(fresh(program.text));
  by("stdin").value = program.stdin ?? "";
  by("input").open = Boolean(program.stdin);
  changed();
}

/** Marks the places of diagnostics; lines from 1, columns in UTF-16 units. */
function mark(places) {
  const { doc } = editor.state;
  const at = (line, column) => {
    const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
    return Math.min(found.from + column, found.to);
  };
  const marks = places.map((place) => ({
    from: at(place.line, place.column),
    to: Math.max(at(place.line, place.column), at(place.endLine, place.endColumn)),
    severity: place.severity === "note" ? "info" : place.severity,
    source: place.code,
    message: place.message,
  }));
  editor.dispatch(setDiagnostics(editor.state, marks.sort((a, b) => a.from - b.from)));
}

// ---------------------------------------------------------------- the output

const output = by("output");
let last = null; // the element that output goes on in
let size = 0;
let said = new Set(); // classes of the terminal's colours
const screens = new Map();

function add(tag, name) {
  last = document.createElement(tag);
  last.className = name;
  output.append(last);
  return last;
}

function clear() {
  output.replaceChildren();
  screens.clear();
  said = new Set();
  last = null;
  size = 0;
}

/** How many characters of a message stand side by side. */
function columns() {
  const probe = add("pre", "said");
  probe.append(Object.assign(document.createElement("span"), { textContent: "0".repeat(100) }));
  const found = Math.floor(100 * ((probe.clientWidth - 24) / probe.firstChild.getBoundingClientRect().width));
  probe.remove();
  last = null;
  return Math.min(Math.max(found, 30), 120);
}

const atEnd = () => output.scrollHeight - output.scrollTop - output.clientHeight < 40;

const events = {
  text({ stream, text }) {
    if (last?.className !== stream) add("pre", stream);
    append(last, text, said);
    size += text.length;
    while (size > MOST && output.firstChild !== output.lastChild) {
      size -= output.firstChild.textContent.length;
      output.firstChild.remove();
    }
    if (size > MOST && last.firstChild !== last.lastChild) {
      size -= last.firstChild.textContent.length;
      last.firstChild.remove();
    }
  },
  clear,
  show({ data, screen }) {
    const old = screen >= 0 ? screens.get(screen) : undefined;
    const place = old ?? add("div", "show");
    if (screen >= 0) screens.set(screen, place);
    if (data["image/png"]) place.replaceChildren(picture(data["image/png"], data["text/plain"]));
    else if (data["text/html"]) place.innerHTML = data["text/html"]; // made by sacpy, names escaped; no script runs here
    else {
      const plain = document.createElement("pre");
      append(plain, data["text/plain"], new Set());
      place.replaceChildren(plain);
    }
    last = null;
  },
  file({ name, size, png, bytes }) {
    const figure = add("figure", "file");
    if (png) figure.append(picture(png, name));
    const caption = document.createElement("figcaption");
    const link = document.createElement("a");
    link.textContent = name;
    if (bytes) {
      link.download = name.split("/").at(-1);
      link.href = URL.createObjectURL(new Blob([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))]));
    }
    caption.append("The program wrote ", link, `, ${size.toLocaleString("en")} bytes.`);
    figure.append(caption);
    last = null;
  },
  said({ text, places }) {
    append(add("pre", "said"), text, new Set());
    explain(last);
    last = null;
    mark(places);
  },
  checked({ places }) {
    checking = false;
    if (!running && !waiting && judged !== text()) mark(places);
  },
  done({ status, seconds }) {
    const took = seconds < 1 ? `${Math.max(1, Math.round(seconds * 1000))} ms` : `${seconds.toFixed(1)} s`;
    finished(`done in ${took}${status > 0 ? `, status ${status}` : ""}`);
  },
  ready() {
    ready = true;
    note("ready");
    if (waiting) start();
    else look();
  },
  failed({ doing, message }) {
    if (doing === "begin") trouble(`The interpreter could not be loaded: ${message}`);
    else if (doing === "check") checking = false;
    else {
      append(add("pre", "said"), `sacpy itself failed; this is a defect of it, not of your program.\n${message}\n`, new Set());
      finished("failed");
    }
  },
};

/** Makes the codes of messages links to where they are explained. */
function explain(element) {
  for (const head of element.querySelectorAll("span")) {
    const [, before, code, after] = /^(\w+\[)([EWN]\d{4})(\])$/.exec(head.textContent) ?? [];
    if (!messages[code]) continue;
    const link = document.createElement("a");
    link.href = `../docs/errors.html#${messages[code]}`;
    link.target = "_blank";
    link.textContent = code;
    head.replaceChildren(before, link, after);
  }
}

function picture(base64, about) {
  const image = new Image();
  image.src = `data:image/png;base64,${base64}`;
  image.alt = about ?? "a picture";
  image.onload = () => image.classList.toggle("small", image.naturalWidth < 200);
  return image;
}

function note(state) {
  by("state").textContent = state;
}

function trouble(message) {
  const place = by("trouble");
  place.textContent = message;
  place.hidden = false;
  note("not available");
  waiting = false;
  by("run").disabled = true;
}

// ---------------------------------------------------------------- the worker

let worker = null;
let ready = false;
let running = false;
let waiting = false; // a run that was asked for before the interpreter was there
let checking = false;
let interrupt = null;
let impatient = 0;
let typed = 0;
let clock = 0;
let judged = null; // the text of the last run, which knows more about it than a check does

function begin() {
  ready = checking = false;
  worker = new Worker("worker.js", { type: "module" });
  worker.onmessage = ({ data }) => {
    const event = JSON.parse(data);
    const follow = event.type === "text" && atEnd();
    events[event.type](event);
    if (follow) output.scrollTop = output.scrollHeight;
  };
  worker.onerror = (event) => {
    event.preventDefault();
    if (ready) events.failed({ doing: "run", message: event.message });
    else trouble(`The interpreter could not be loaded: ${event.message ?? "this browser has no module workers"}`);
  };
  interrupt = self.crossOriginIsolated ? new Uint8Array(new SharedArrayBuffer(1)) : null;
  worker.postMessage({ type: "begin", interrupt });
}

function run() {
  if (running || waiting || by("run").disabled) return;
  clear();
  mark([]);
  if (ready) start();
  else {
    waiting = true;
    busy(true);
    note("loading the interpreter; the program runs when it is there …");
  }
}

function start() {
  waiting = false;
  running = true;
  busy(true);
  clearTimeout(typed);
  judged = text();
  const since = performance.now();
  note("running …");
  clock = setInterval(() => note(`running … ${((performance.now() - since) / 1000).toFixed(1)} s`), 100);
  worker.postMessage({ type: "run", text: text(), stdin: by("stdin").value, columns: columns() });
}

function stop() {
  if (waiting) {
    waiting = false;
    busy(false);
    note("loading …");
  } else if (interrupt) {
    interrupt[0] = 2; // SIGINT
    clearTimeout(impatient);
    impatient = setTimeout(kill, PATIENCE);
  } else kill();
}

/** Ends a worker that cannot be interrupted; another one takes its place. */
function kill() {
  if (!running) return;
  worker.terminate();
  append(add("pre", "said"), "stopped\n", new Set());
  finished("stopped; the interpreter is loaded again …");
  begin();
}

function finished(how) {
  clearInterval(clock);
  clearTimeout(impatient);
  running = false;
  busy(false);
  note(how);
}

function busy(now) {
  by("run").disabled = now;
  by("stop").disabled = !now;
  document.body.classList.toggle("busy", now);
}

function changed() {
  judged = null;
  clearTimeout(typed);
  typed = setTimeout(look, QUIET);
}

function look() {
  if (!ready || running || checking || judged === text()) {
    if (checking) changed();
    return;
  }
  checking = true;
  worker.postMessage({ type: "check", text: text() });
}

// ---------------------------------------------------------------- buttons

by("run").onclick = run;
by("stop").onclick = stop;
addEventListener("keydown", (event) => {
  if (event.defaultPrevented) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
  else if (event.key === "Escape" && (running || waiting)) stop();
});

by("share").onclick = async () => {
  history_(await packed(text(), by("stdin").value));
  try {
    await navigator.clipboard.writeText(location.href);
    note("the link is on the clipboard");
  } catch {
    note("the link is in the address bar");
  }
};
const history_ = (fragment) => window.history.replaceState(null, "", fragment);

const THEMES = ["auto", "light", "dark"]; // as the documentation's pages call and keep them
by("theme").onclick = () => {
  const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
  document.documentElement.dataset.theme = next;
  note(`colours: ${next === "auto" ? "as the system has them" : next}`);
  try {
    localStorage.setItem("theme", next);
  } catch {
    // then only for this visit
  }
};

for (const [name, group] of Object.entries(Object.groupBy?.(examples, (e) => e.group) ?? { Examples: examples })) {
  const place = document.createElement("optgroup");
  place.label = name;
  for (const example of group) {
    const option = new Option(example.title, String(examples.indexOf(example)));
    place.append(option);
  }
  by("examples").append(place);
}
by("examples").onchange = ({ target }) => {
  if (target.value === "") return;
  history_(`#e=${examples[Number(target.value)].name}`);
  arrive();
};

// ---------------------------------------------------------------- the beginning

async function arrive() {
  const named = /^#e=([\w-]+)$/.exec(location.hash)?.[1];
  const example = examples.findIndex((e) => e.name === named);
  if (named && example < 0) note(`there is no example ${named}`);
  by("examples").value = example < 0 ? "" : String(example);
  if (running) stop();
  clear();
  try {
    open(example >= 0 ? examples[example] : ((await unpacked(location.hash)) ?? examples[0]));
  } catch {
    open(examples[0]);
    append(add("pre", "said"), "The link is damaged; here is an example instead.\n", new Set());
  }
}

if (typeof WebAssembly !== "object" || typeof Worker !== "function" || typeof BigInt64Array === "undefined") {
  trouble("This browser cannot run the interpreter: it has no WebAssembly or no workers.");
  await arrive();
} else {
  begin();
  await arrive();
}
addEventListener("hashchange", arrive);
