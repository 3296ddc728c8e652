// Loads what the page needs from the scripts beside it, without a request, and translates what is typed.
"use strict";

const stored = new Map(); // name -> bytes, deflated and in base64; each script of files/ puts one

function store(name, text) {
  stored.set(name, text);
}

function decodeBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text), bytes = new Uint8Array(letters.length); // browsers of before 2025
  for (let index = 0; index < bytes.length; index++) bytes[index] = letters.charCodeAt(index);
  return bytes;
}

async function read(name) {
  const packed = decodeBase64(stored.get(name));
  stored.delete(name);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Pyodide asks for its files by `fetch`; they are here already.
window.fetch = async (address) => {
  const name = String(address.url ?? address).split("/").pop();
  if (!stored.has(name)) throw new TypeError(`${name} is not a part of this page`);
  const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
  return new Response(await read(name), {headers: {"Content-Type": type}});
};

async function addressScript(name) {
  return URL.createObjectURL(new Blob([await read(name)], {type: "text/javascript"}));
}

async function importModule(name) {
  return (await import(await addressScript(name))).default;
}

async function runScript(name) {
  const script = document.createElement("script");
  script.src = await addressScript(name);
  await new Promise((resolve, reject) => {
    [script.onload, script.onerror] = [resolve, () => reject(new Error(`${name} cannot be run`))];
    document.head.append(script);
  });
}

async function startPython() {
  const options = {indexURL: new URL("files/", location).href, packages: ["numpy"]};
  if (stored.has("pyodide.asm.mjs")) options.createPyodideModule = await importModule("pyodide.asm.mjs");
  else await runScript("pyodide.asm.js"); // of Pyodide before 314
  return loadPyodide(options);
}

const START = `
import sys

from pyodide.ffi import to_js

sys.path.insert(0, "/nmt")
import onnxruntime


def run_graph(number, inputs, content, names):
    described, values = graphs.run(number, inputs, to_js(content), names)
    return described, values.to_py()


onnxruntime.InferenceSession.border = onnxruntime.Border(lambda graph: graphs.open(to_js(graph)), run_graph)

import nmt_cli

translator = nmt_cli.load("/nmt/model", beam_size=1)


def translate(line):
    translation = next(iter(translator.translations([line])))
    return to_js([translation.text, [check.message for check in translation.checks]])


translate
`;

// Returns a function: a line -> [its translation, what nmt tells of it].
async function start() {
  const [graphs, python] = await Promise.all([
    Promise.all([importModule("ort-wasm-simd-threaded.mjs"), read("ort-wasm-simd-threaded.wasm")])
      .then(([factory, binary]) => startGraphs(factory, binary)),
    startPython(),
  ]);
  python.unpackArchive(await read("nmt.zip"), "zip", {extractDir: "/nmt"});
  python.globals.set("graphs", graphs);
  return python.runPython(START);
}

const source = document.getElementById("source"), target = document.getElementById("target");
const status = document.getElementById("status");
const translated = new Map(); // by line
let shown = ""; // the text that is being translated

async function show(translate) {
  const text = shown = source.value;
  const rows = [];
  for (const line of text.split("\n")) {
    if (!translated.has(line)) {
      status.textContent = "Translating …";
      await new Promise((resolve) => setTimeout(resolve)); // so that what is typed meanwhile is seen
      if (shown !== text) return;
      translated.set(line, translate(line));
    }
    rows.push(makeRow(...translated.get(line)));
  }
  target.replaceChildren(...rows);
  status.textContent = "";
}

function makeRow(text, remarks) {
  const row = document.createElement("p");
  row.append(text);
  for (const remark of remarks) {
    const note = document.createElement("small");
    note.append(remark);
    row.append(document.createElement("br"), note);
  }
  return row;
}

const ready = new Promise((resolve) => window.addEventListener("load", resolve)).then(start);
ready.then((translate) => {
  let waiting;
  source.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, 300, translate);
  });
  return show(translate);
}).catch((error) => {
  status.textContent = `The translator cannot run here: ${error.message.trim().split("\n").pop()}`;
});
