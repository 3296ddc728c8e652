// Draws the page from the data in it. Text from outside only ever becomes textContent.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const state = { pieces: !data.merge, transpose: data.transpose, layer: "mean", head: "mean" };
  const first = data.sentences[0].words.attention;
  const depth = first.length, heads = first[0].length;

  function element(name, attributes = {}, text = null) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== null) made.textContent = text;
    return made;
  }

  // Weights [T][S] of the chosen layer and head, or the mean over all of them.
  function weights(view) {
    const chosenLayers = state.layer === "mean" ? view.attention : [view.attention[Number(state.layer)]];
    const planes = chosenLayers.flatMap(layer => state.head === "mean" ? layer : [layer[Number(state.head)]]);
    return view.target.map((_, t) => view.source.map((_, s) =>
      planes.reduce((sum, plane) => sum + plane[t][s], 0) / planes.length));
  }

  const percent = value => `${(100 * value).toFixed(value < 0.0995 ? 1 : 0)} %`;

  function sequence(name, labels) {
    const line = element("div", { class: "sequence" });
    line.append(element("b", {}, name));
    const words = labels.map(label => element("span", { class: "word", dir: "auto" }, label));
    line.append(...words);
    return { line, words };
  }

  function shade(node, weight) {
    node.style.setProperty("--w", weight.toFixed(3));
    node.classList.toggle("strong", weight > 0.5);
  }

  function draw(sentence, number) {
    const view = state.pieces ? sentence.pieces : sentence.words;
    const matrix = weights(view);
    const top = Math.min(1, Math.max(0.1, Math.ceil(Math.max(...matrix.flat()) * 10 - 1e-6) / 10));
    const box = element("section", { "data-sentence": number });
    box.append(element("h2", { dir: "auto" }, view.sourceText), element("p", { dir: "auto" }, view.targetText));
    const source = sequence("source", view.source), target = sequence("target", view.target);
    const status = element("p", { class: "status", "aria-live": "polite" });
    box.append(source.line, target.line, status);
    const { scroll, table, cells, rowHeads, columnHeads } = grid(view, matrix, top);
    box.append(scroll);
    const scale = element("p", { class: "scale" });
    scale.append("0 %", element("i"), `${Math.round(top * 100)} % of a produced word's attention`);
    box.append(scale);
    if (sentence.measured) box.append(element("p", { class: "measured" }, sentence.measured));

    const at = (s, t) => state.transpose ? cells[t][s] : cells[s][t];
    let here = { s: null, t: null };

    function clear() {
      here = { s: null, t: null };
      status.textContent = "";
      [...source.words, ...target.words].forEach(word => { shade(word, 0); word.classList.remove("here"); });
      [...rowHeads, ...columnHeads].forEach(head => head.classList.remove("here"));
      cells.flat().forEach(cell => cell.classList.remove("line", "row", "column", "cell"));
    }

    // Shows target word t (its sources), source word s (its targets), or the one cell of both.
    function show(s, t) {
      clear();
      here = { s, t };
      const heads = state.transpose ? { s: columnHeads, t: rowHeads } : { s: rowHeads, t: columnHeads };
      if (t !== null) {
        target.words[t].classList.add("here"); heads.t[t].classList.add("here");
        matrix[t].forEach((weight, other) => {
          shade(source.words[other], weight / top);
          at(other, t).classList.add("line", state.transpose ? "row" : "column");
        });
      }
      if (s !== null) {
        source.words[s].classList.add("here"); heads.s[s].classList.add("here");
        matrix.forEach((row, other) => {
          if (t === null) shade(target.words[other], row[s] / top);
          at(s, other).classList.add("line", state.transpose ? "column" : "row");
        });
      }
      if (s !== null && t !== null) at(s, t).classList.add("cell");
      status.textContent = told(s, t);
    }

    // Isolated, so that words of a right-to-left script do not turn the numbers beside them round.
    const isolated = label => `\u2068${label}\u2069`;
    const sourceWord = s => isolated(view.source[s]), targetWord = t => isolated(view.target[t]);

    // The three places of greatest weight.
    function greatest(labels, weightOf, wordOf) {
      const order = labels.map((_, place) => place).sort((a, b) => weightOf(b) - weightOf(a)).slice(0, 3);
      return order.map(place => `${wordOf(place)} ${percent(weightOf(place))}`).join(", ");
    }

    function told(s, t) {
      if (s !== null && t !== null) return `${targetWord(t)} ← ${sourceWord(s)} ${percent(matrix[t][s])}`;
      if (t === null) return `${sourceWord(s)} → ${greatest(view.target, other => matrix[other][s], targetWord)}`;
      const from = greatest(view.source, other => matrix[t][other], sourceWord);
      return `${targetWord(t)} (probability ${percent(view.probabilities[t])}) ← ${from}`;
    }

    const sources = [source.words, state.transpose ? columnHeads : rowHeads];
    const targets = [target.words, state.transpose ? rowHeads : columnHeads];
    sources.forEach(nodes => nodes.forEach((node, s) => node.addEventListener("pointerenter", () => show(s, null))));
    targets.forEach(nodes => nodes.forEach((node, t) => node.addEventListener("pointerenter", () => show(null, t))));
    view.source.forEach((_, s) => view.target.forEach((_, t) =>
      at(s, t).addEventListener("pointerenter", () => show(s, t))));
    box.addEventListener("pointerleave", clear);
    table.addEventListener("keydown", event => {
      const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      if (event.key === "Escape") clear();
      if (!step) return;
      event.preventDefault();
      const [rows, columns] = state.transpose ? ["t", "s"] : ["s", "t"];
      const size = { s: view.source.length, t: view.target.length };
      const next = { s: here.s ?? 0, t: here.t ?? 0 };
      if (here.s !== null || here.t !== null) {
        next[rows] = Math.min(size[rows] - 1, Math.max(0, next[rows] + step[0]));
        next[columns] = Math.min(size[columns] - 1, Math.max(0, next[columns] + step[1]));
      }
      show(next.s, next.t);
    });
    return box;
  }

  function grid(view, matrix, top) {
    const [rows, columns] = state.transpose ? [view.target, view.source] : [view.source, view.target];
    const scroll = element("div", { class: "scroll" });
    const table = element("table", { tabindex: "0", "aria-label": "attention weights; arrow keys move" });
    table.style.setProperty("--columns", columns.length);
    const head = element("thead"), body = element("tbody"), line = element("tr");
    table.classList.toggle("upright", columns.length <= 14 && Math.max(...columns.map(label => [...label].length)) <= 9);
    const heading = (label, scope) => {
      const made = element("th", { scope, title: label });
      made.append(element("span", { dir: "auto" }, label));
      return made;
    };
    const columnHeads = columns.map(label => heading(label, "col"));
    line.append(element("td", { style: "border:0" }), ...columnHeads);
    line.firstChild.style.setProperty("--w", 0);
    head.append(line);
    const rowHeads = rows.map(label => heading(label, "row"));
    const cells = rows.map((_, r) => columns.map((_, c) => {
      const weight = state.transpose ? matrix[r][c] : matrix[c][r];
      const cell = element("td", { "aria-label": percent(weight) });
      shade(cell, weight / top);
      return cell;
    }));
    rowHeads.forEach((rowHead, r) => {
      const row = element("tr");
      row.append(rowHead, ...cells[r]);
      body.append(row);
    });
    table.append(head, body);
    scroll.append(table);
    return { scroll, table, cells, rowHeads, columnHeads };
  }

  function redraw() {
    document.getElementById("sentences").replaceChildren(...data.sentences.map(draw));
  }

  function choice(name, count) {
    const select = document.getElementById(name);
    select.append(element("option", { value: "mean" }, "mean"));
    for (let i = 0; i < count; i++) select.append(element("option", { value: i }, String(i + 1)));
    document.getElementById(`${name}-choice`).hidden = count < 2;
    select.addEventListener("change", () => { state[name] = select.value; redraw(); });
  }

  choice("layer", depth);
  choice("head", heads);
  for (const name of ["pieces", "transpose"]) {
    const box = document.getElementById(name);
    box.checked = state[name];
    box.addEventListener("change", () => { state[name] = box.checked; redraw(); });
  }
  document.getElementById("theme").addEventListener("change", event => {
    document.documentElement.setAttribute("data-theme", event.target.value);
  });
  redraw();
})();
