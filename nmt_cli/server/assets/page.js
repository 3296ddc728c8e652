// The page of `nmt translate --serve`. Text is shown as text, never as markup: nodes are made, no HTML is parsed.
"use strict";

const byId = (id) => document.getElementById(id);
const [source, target, mirror, menu, status, direction, key] =
  ["source", "target", "mirror", "menu", "status", "direction", "key"].map(byId);
const [TYPING_PAUSE, LOOKING_PAUSE] = [250, 500]; // milliseconds
let lines = []; // as the server describes them
let waiting = null; // the timer of a pause in typing
let running = null; // the request that is being answered
let accepted = ""; // the translation before it was corrected
let models = []; // what is known of each
let reviewed = []; // the document under review, and its column if it is a table
let table = null; // a document of which a column is to be named

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function say(message, isError = false) {
  status.textContent = message;
  status.classList.toggle("error", isError);
}

async function ask(path, options = {}) {
  const headers = { ...options.headers };
  if (key.value) headers.Authorization = `Bearer ${key.value}`;
  const response = await fetch(path, { ...options, headers });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error || response.statusText);
  return answer;
}

function askWith(path, values, signal) {
  return ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(values), signal });
}

function languages() {
  const [from, to] = direction.value.split(" ");
  return { source: from, target: to };
}

// How people are addressed, where the model of this direction knows both ways.
// What each request says beside its text.
function asked() {
  const formality = byId("formality").hidden ? "default" : byId("formality").value;
  return { formality, tag: byId("domain").value, ...languages() };
}

// Translation while one types: after a pause, and never two requests at a time.
function translateSoon() {
  clearTimeout(waiting);
  byId("count").textContent = source.value ? `${source.value.length.toLocaleString("en")} characters` : "";
  highlight(null);
  waiting = setTimeout(translate, TYPING_PAUSE);
}

async function translate() {
  clearTimeout(waiting);
  running?.abort();
  endCorrection();
  if (!source.value.trim()) return show([]);
  running = new AbortController();
  target.classList.add("busy");
  const begun = performance.now();
  try {
    const answer = await askWith("page/translate", { q: source.value, ...asked() }, running.signal);
    show(answer.lines);
    say(`${((performance.now() - begun) / 1000).toFixed(2)} s`);
    if (lines.some((line) => line.isTarget) && findReverse()) offerSwap();
  } catch (error) {
    if (error.name !== "AbortError") say(error.message, true);
  } finally {
    target.classList.remove("busy");
  }
}

// The other direction, if the server has it.
function findReverse() {
  const { source: from, target: to } = languages();
  return [...direction.options].find((option) => option.value === `${to} ${from}`);
}

function chooseDirection() {
  target.lang = languages().target;
  byId("swap").hidden = !findReverse();
  const { source: from, target: to } = languages();
  const model = models.find((model) => model.source === from && model.target === to);
  byId("model").textContent = model?.about ?? "";
  byId("formality").hidden = !model?.hasRegisters;
  const domains = model?.domains ?? [];
  byId("domain").hidden = !domains.length;
  byId("domain").replaceChildren(new Option("any kind of text", ""), ...domains.map((name) => new Option(name, name)));
}

function swap(text) {
  source.value = text;
  direction.value = findReverse().value;
  chooseDirection();
  translateSoon();
}

function offerSwap() {
  const button = make("button", "", "swap");
  button.type = "button";
  button.addEventListener("click", () => swap(source.value));
  status.replaceChildren(`This looks like ${direction.selectedOptions[0].text.split(" → ")[1]}: `, button);
}

function show(described) {
  lines = described;
  closeMenu();
  target.replaceChildren(...lines.map(makeRow));
}

function makeRow(line, number) {
  const row = make("span", "row");
  if (line.alternatives?.length) {
    row.classList.add("choice");
    row.tabIndex = 0;
    row.setAttribute("role", "button");
    row.setAttribute("aria-haspopup", "listbox");
    row.addEventListener("click", () => openMenu(row, number));
    row.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); openMenu(row, number); } });
  }
  if (line.isRecalled) { row.classList.add("recalled"); row.title = "from the translation memory"; }
  row.append(line.before.replace(/[\r\n]/g, ""));
  if (line.segments) row.append(...makeWords(line, number));
  else row.append(line.text);
  if (typeof line.confidence === "number") row.append(makeConfidence(line));
  for (const check of line.checks ?? []) row.append(make("span", "check", check));
  return row;
}

// The probability that a line, or the worst of its sentences, is right; its digits are no text, so that they are not copied with it.
function makeConfidence(line) {
  const node = make("span", line.isUnsure ? "confidence unsure" : "confidence");
  node.dataset.percent = `${(100 * line.confidence).toFixed(0)} %`;
  node.title = line.leastSure ? `how likely its least certain sentence is to be right: ${line.leastSure}` : "how likely this line is to be right";
  return node;
}

function makeWords(line, number) {
  return line.segments.map(([text, index]) => {
    const isSpan = (line.spans ?? []).some((span) => span && span.includes(text.trim()) && text.trim() && (index < 0 || span === text));
    if (index < 0 && !isSpan) return text;
    const node = make("span", isSpan ? "word span" : "word", text);
    if (isSpan) node.title = line.terms.includes(text) ? "from the glossary" : "kept unchanged";
    if (index >= 0) {
      const probability = line.probabilities[index];
      if (!isSpan) node.title = `probability ${(100 * probability).toFixed(0)} %`;
      node.style.setProperty("--doubt", isSpan ? 0 : Math.max(0, 1 - probability / 0.7).toFixed(2));
      node.addEventListener("mouseenter", () => highlight(number, line.attention[index]));
      node.addEventListener("mouseleave", () => highlight(null));
    }
    return node;
  });
}

// What a word looked at: the mirror lies under the text area, letter for letter, and its words are coloured.
function highlight(number, weights) {
  mirror.replaceChildren();
  if (number === null) return void mirror.append(`${source.value}\n`); // it also makes the text area as high as its text
  const line = lines[number];
  const before = lines.slice(0, number).map((other) => other.before + other.source + other.after).join("") + line.before;
  mirror.append(before);
  for (const [text, index] of line.sourceSegments) {
    const node = make("span", "", text);
    if (index >= 0) node.style.backgroundColor = `rgb(var(--blue) / ${(0.75 * (weights[index] ?? 0)).toFixed(2)})`;
    mirror.append(node);
  }
  mirror.append(`${source.value.slice(mirror.textContent.length)}\n`);
}

function openMenu(row, number) {
  if (target.isContentEditable) return;
  const line = lines[number];
  menu.replaceChildren(...[line.text, ...line.alternatives].map((text) => {
    const option = make("button", "", text);
    option.type = "button";
    option.setAttribute("role", "option");
    option.addEventListener("click", () => choose(number, text));
    return option;
  }));
  const box = row.getBoundingClientRect();
  menu.hidden = false;
  menu.style.left = `${Math.max(8, Math.min(box.left + scrollX, innerWidth - menu.offsetWidth - 16))}px`;
  menu.style.top = `${box.bottom + scrollY + 4}px`;
  menu.scrollIntoView({ block: "nearest" });
  menu.firstChild.focus({ preventScroll: true });
}

function closeMenu() { menu.hidden = true; }

function choose(number, text) {
  const line = lines[number];
  if (text !== line.text) {
    const others = [line.text, ...line.alternatives].filter((other) => other !== text);
    show(lines.map((old, index) => (index === number ? { ...old, text, alternatives: others, segments: null, confidence: null } : old)));
  }
  closeMenu();
  target.children[number]?.focus();
}

function moveInMenu(event) {
  const options = [...menu.children];
  const index = options.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) { event.preventDefault(); options[(index + step + options.length) % options.length].focus(); }
}

function translation() {
  if (target.isContentEditable) return target.innerText.replace(/\n$/, "");
  return lines.map((line) => line.before + line.text + line.after).join("");
}

async function copy() {
  try {
    await navigator.clipboard.writeText(translation());
    say("copied");
  } catch {
    say("the browser does not allow this page to copy", true);
  }
}

function endCorrection() {
  target.contentEditable = "false";
  byId("correct").textContent = "Correct this";
}

async function correct() {
  if (!target.isContentEditable) {
    accepted = translation();
    if (!accepted.trim()) return;
    target.textContent = accepted;
    target.contentEditable = "true";
    target.focus();
    byId("correct").textContent = "Send correction";
    return;
  }
  try {
    await keepCorrections(source.value, accepted, translation());
    endCorrection();
    say("thank you, the correction is saved");
  } catch (error) {
    say(error.message, true);
  }
}

// Keeps the lines that a person has changed; the whole text if lines were added or taken away.
async function keepCorrections(text, before, after) {
  const [sources, old, corrected] = [text, before, after].map((part) => part.split("\n"));
  const isLineByLine = sources.length === corrected.length && old.length === corrected.length;
  if (!isLineByLine) return askWith("suggest", { q: text, s: after, ...asked() });
  for (const [index, line] of corrected.entries()) {
    if (line !== old[index]) await askWith("suggest", { q: sources[index], s: line, ...asked() });
  }
}

async function translateFile(file, column) {
  if (!file) return;
  const form = new FormData();
  const job = crypto.getRandomValues(new Uint32Array(4)).join("-");
  for (const [name, value] of Object.entries({ file, job, ...(column && { column }), ...asked() })) form.append(name, value);
  byId("review").hidden = byId("column-form").hidden = true;
  say(`translating ${file.name} …`);
  const looking = setInterval(() => showProgress(file, job), LOOKING_PAUSE);
  try {
    const answer = await ask("page/translate_file", { method: "POST", body: form });
    const link = make("a", "", `${file.name}, translated`);
    link.href = new URL(answer.translatedFileUrl).pathname;
    link.download = ""; // under the name that the server gives it
    clearInterval(looking);
    status.replaceChildren(link);
    status.classList.remove("error");
    link.click();
    review(file, column, answer);
  } catch (error) {
    say(error.message, true);
    table = file;
    byId("column-form").hidden = !/\bcolumns?\b/.test(error.message.replaceAll(file.name, ""));
    if (!byId("column-form").hidden) byId("column").focus();
  } finally {
    clearInterval(looking);
  }
}

async function showProgress(file, job) {
  const { texts } = await ask(`page/progress?job=${job}`).catch(() => ({}));
  if (texts && !status.querySelector("a")) say(`translating ${file.name} … ${texts.toLocaleString("en")} texts`);
}

// The doubtful texts of a document, most doubtful first. What is corrected joins the memory, from which it is written.
function review(file, column, { texts, flagged, flaggedCount }) {
  reviewed = [file, column];
  byId("review").hidden = !flagged.length;
  byId("again").hidden = byId("correct").hidden;
  const more = flaggedCount > flagged.length ? `, of which ${flagged.length} are listed` : "";
  byId("review").querySelector("h2").textContent =
    `${file.name}: ${flaggedCount.toLocaleString("en")} of ${texts.toLocaleString("en")} texts to look at${more}`;
  byId("review").querySelector("ol").replaceChildren(...flagged.map(makeReviewed));
}

function makeReviewed({ number, source: text, text: translated, checks }) {
  const item = make("li");
  item.value = number;
  const field = make("textarea", "", translated);
  field.rows = Math.ceil((translated.length + 1) / 80);
  field.lang = languages().target;
  field.dir = "auto";
  field.setAttribute("aria-label", `Translation of text ${number}`);
  item.append(make("p", "", text), field, ...checks.map((check) => make("span", "check", check)));
  return item;
}

async function translateAgain() {
  try {
    for (const item of byId("review").querySelectorAll("li")) {
      const field = item.querySelector("textarea");
      await keepCorrections(item.querySelector("p").textContent, field.defaultValue, field.value);
    }
    await translateFile(...reviewed);
  } catch (error) {
    say(error.message, true);
  }
}

async function begin() {
  const [known, settings, described] = await Promise.all(["languages", "frontend/settings", "page/models"].map((path) => ask(path)));
  models = described;
  const names = Object.fromEntries(known.map((language) => [language.code, language.name]));
  for (const language of known) {
    for (const code of language.targets) {
      const option = make("option", "", `${language.name} → ${names[code] ?? code}`);
      option.value = `${language.code} ${code}`;
      direction.append(option);
    }
  }
  byId("key-form").hidden = !settings.keyRequired;
  byId("correct").hidden = !settings.suggestions;
  byId("file").accept = settings.supportedFilesFormat.join(",");
  chooseDirection();
  if (source.value.trim()) translate();
}

source.addEventListener("input", translateSoon);
source.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) translate(); });
direction.addEventListener("change", () => { chooseDirection(); translate(); });
byId("formality").addEventListener("change", translate);
byId("domain").addEventListener("change", translate);
byId("swap").addEventListener("click", () => swap(translation()));
byId("again").addEventListener("click", translateAgain);
key.addEventListener("change", translate);
byId("column-form").addEventListener("submit", (event) => { event.preventDefault(); translateFile(table, byId("column").value); });
byId("key-form").addEventListener("submit", (event) => { event.preventDefault(); translate(); });
byId("shade").addEventListener("change", (event) => target.classList.toggle("shaded", event.target.checked));
byId("clear").addEventListener("click", () => { source.value = ""; translateSoon(); source.focus(); });
byId("copy").addEventListener("click", copy);
byId("correct").addEventListener("click", correct);
byId("file").addEventListener("change", (event) => { translateFile(event.target.files[0]); event.target.value = ""; });
menu.addEventListener("keydown", moveInMenu);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { closeMenu(); if (target.isContentEditable) show(lines), endCorrection(); }
  if (event.altKey && event.key.toLowerCase() === "c") { event.preventDefault(); copy(); }
});
addEventListener("resize", closeMenu);
document.addEventListener("click", (event) => { if (!menu.contains(event.target) && !event.target.closest(".choice")) closeMenu(); });
for (const type of ["dragenter", "dragover"]) {
  document.addEventListener(type, (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
}
document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
document.addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  translateFile(event.dataTransfer.files[0]);
});
target.classList.add("shaded");
begin().catch((error) => say(error.message, true));
