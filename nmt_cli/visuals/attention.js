// Draws the page from the data in it. Text from outside only ever becomes textContent.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const isCompared = data.sentences.some(sentence => sentence.model); // side by side, so headings are narrow
  const state = { pieces: !data.merge, transpose: data.transpose, layer: "mean", head: "mean" };

  function element(name, attributes = {}, text = null) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== null) made.textContent = text;
    return made;
  }

  const percent = value => `${(100 * value).toFixed(value < 0.0995 ? 1 : 0)} %`;

  // Isolated, so that words of a right-to-left script do not turn the numbers beside them round.
  const isolated = label => `\u2068${label}\u2069`;

  // Weights [T][S] of the chosen layer and head, or the mean over all of them.
  function weights(view) {
    const layers = state.layer === "mean" ? view.attention : [view.attention[Number(state.layer)]];
    const planes = layers.flatMap(layer => state.head === "mean" ? layer : [layer[Number(state.head)]]);
    return view.target.map((_, t) => view.source.map((_, s) =>
      planes.reduce((sum, plane) => sum + plane[t][s], 0) / planes.length));
  }

  // The weight of the darkest shade: the greatest one, rounded up to a tenth.
  function ceiling(matrix) {
    const greatest = matrix.reduce((most, row) => Math.max(most, ...row), 0);
    return Math.min(1, Math.max(0.1, Math.ceil(greatest * 10 - 1e-6) / 10));
  }

  // The colour of a share from 0 to 1, between the two nearest colours of a ramp.
  function mix(ramp, share) {
    const place = Math.min(1, Math.max(0, share)) * (ramp.length - 1), first = Math.min(ramp.length - 2, Math.floor(place));
    const mixed = [1, 3, 5].map(start => {
      const [from, to] = [ramp[first], ramp[first + 1]].map(text => parseInt(text.slice(start, start + 2), 16));
      return Math.round(from + (to - from) * (place - first));
    });
    return `rgb(${mixed.join(" ")})`;
  }

  // Nothing is painted at 0, so that a marked word or line keeps the colour of the page.
  function shade(node, share) {
    node.style.setProperty("--w", share.toFixed(3));
    const colours = [data.ramp, data.darkRamp].map(ramp => mix(ramp, share));
    node.style.setProperty("--shade", share > 0 ? `light-dark(${colours})` : "transparent");
    node.classList.toggle("strong", share > 0.5);
  }

  function gradient(node) {
    const colours = data.ramp.map((light, place) => `light-dark(${light}, ${data.darkRamp[place]})`);
    node.style.setProperty("--ramp", `linear-gradient(90deg, ${colours})`);
    return node;
  }

  function sequence(name, labels) {
    const line = element("div", { class: "sequence" });
    const words = labels.map(label => element("span", { class: "word", dir: "auto" }, label));
    line.append(element("b", {}, name), ...words);
    return { line, words };
  }

  function heading(label, scope) {
    const made = element("th", { scope, title: label });
    made.append(element("span", { dir: "auto" }, label));
    return made;
  }

  // The table, with its cells [row][column] and the headings of both sides.
  function grid(view, matrix, top) {
    const [rows, columns] = state.transpose ? [view.target, view.source] : [view.source, view.target];
    const table = element("table", { tabindex: "0", "aria-label": "attention weights; arrow keys move" });
    table.style.setProperty("--columns", columns.length);
    const longest = columns.reduce((most, label) => Math.max(most, [...label].length), 0);
    table.classList.toggle("upright", columns.length <= (isCompared ? 6 : 14) && longest <= 12);
    const columnHeads = columns.map(label => heading(label, "col"));
    const rowHeads = rows.map(label => heading(label, "row"));
    const cells = rows.map((_, r) => columns.map((_, c) => {
      const weight = state.transpose ? matrix[r][c] : matrix[c][r];
      const cell = element("td", { "aria-label": percent(weight) });
      shade(cell, weight / top);
      return cell;
    }));
    const head = element("thead"), body = element("tbody"), first = element("tr");
    const names = state.transpose ? ["translation ↓", "source →"] : ["source ↓", "translation →"];
    const corner = element("td", { class: "corner" });
    corner.append(element("span", {}, names[1]), element("span", {}, names[0]));
    first.append(corner, ...columnHeads);
    head.append(first);
    rowHeads.forEach((rowHead, r) => {
      const row = element("tr");
      row.append(rowHead, ...cells[r]);
      body.append(row);
    });
    table.append(head, body);
    return { table, cells, rowHeads, columnHeads };
  }

  // What is drawn of one sentence, by source word s and target word t whichever way the table stands.
  function parts(view) {
    const matrix = weights(view), top = ceiling(matrix);
    const { table, cells, rowHeads, columnHeads } = grid(view, matrix, top);
    return {
      view, matrix, top, table, cells,
      source: sequence("source", view.source), target: sequence("target", view.target),
      sourceHeads: state.transpose ? columnHeads : rowHeads,
      targetHeads: state.transpose ? rowHeads : columnHeads,
      cell: (s, t) => state.transpose ? cells[t][s] : cells[s][t],
      status: element("p", { class: "status", "aria-live": "polite" }),
      here: { s: null, t: null },
    };
  }

  function clear(drawn) {
    drawn.here = { s: null, t: null };
    drawn.status.textContent = "";
    for (const word of [...drawn.source.words, ...drawn.target.words]) {
      shade(word, 0);
      word.classList.remove("here");
    }
    for (const head of [...drawn.sourceHeads, ...drawn.targetHeads]) head.classList.remove("here");
    for (const cell of drawn.cells.flat()) cell.classList.remove("line", "row", "column", "cell");
  }

  // Shows target word t (its sources), source word s (its targets), or the one cell of both; null is neither.
  function show(drawn, s, t) {
    clear(drawn);
    drawn.here = { s, t };
    if (t !== null) {
      for (const node of [drawn.target.words[t], drawn.targetHeads[t]]) node.classList.add("here");
      drawn.matrix[t].forEach((weight, other) => {
        shade(drawn.source.words[other], weight / drawn.top);
        drawn.cell(other, t).classList.add("line", state.transpose ? "row" : "column");
      });
    }
    if (s !== null) {
      for (const node of [drawn.source.words[s], drawn.sourceHeads[s]]) node.classList.add("here");
      drawn.matrix.forEach((row, other) => {
        if (t === null) shade(drawn.target.words[other], row[s] / drawn.top);
        drawn.cell(s, other).classList.add("line", state.transpose ? "column" : "row");
      });
    }
    if (s !== null && t !== null) drawn.cell(s, t).classList.add("cell");
    drawn.status.textContent = told(drawn, s, t);
  }

  // The three words of greatest weight.
  function greatest(labels, weightOf) {
    const order = labels.map((_, place) => place).sort((a, b) => weightOf(b) - weightOf(a)).slice(0, 3);
    return order.map(place => `${isolated(labels[place])} ${percent(weightOf(place))}`).join(", ");
  }

  function told({ view, matrix }, s, t) {
    const source = s === null ? "" : isolated(view.source[s]), target = t === null ? "" : isolated(view.target[t]);
    if (source && target) return `${target} ← ${source} ${percent(matrix[t][s])}`;
    if (source) return `${source} → ${greatest(view.target, other => matrix[other][s])}`;
    return `${target} (probability ${percent(view.probabilities[t])}) ← ${greatest(view.source, other => matrix[t][other])}`;
  }

  function listen(box, drawn) {
    const on = (node, s, t) => node.addEventListener("pointerenter", () => show(drawn, s, t));
    for (const nodes of [drawn.source.words, drawn.sourceHeads]) nodes.forEach((node, s) => on(node, s, null));
    for (const nodes of [drawn.target.words, drawn.targetHeads]) nodes.forEach((node, t) => on(node, null, t));
    drawn.view.source.forEach((_, s) => drawn.view.target.forEach((_, t) => on(drawn.cell(s, t), s, t)));
    box.addEventListener("pointerleave", () => clear(drawn));
    drawn.table.addEventListener("keydown", event => press(event, drawn));
  }

  function press(event, drawn) {
    if (event.key === "Escape") clear(drawn);
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step) return;
    event.preventDefault();
    const { here, view } = drawn;
    const started = here.s !== null || here.t !== null;
    const [down, across] = started ? step : [0, 0];
    const [bySource, byTarget] = state.transpose ? [across, down] : [down, across];
    const within = (place, size) => Math.min(size - 1, Math.max(0, place));
    show(drawn, within((here.s ?? 0) + bySource, view.source.length), within((here.t ?? 0) + byTarget, view.target.length));
  }

  function draw(sentence) {
    const view = state.pieces ? sentence.pieces : sentence.words;
    const drawn = parts(view);
    const box = element("section"), scroll = element("div", { class: "scroll" }), scale = element("p", { class: "scale" });
    scroll.append(drawn.table);
    scale.append("0 %", gradient(element("i")), `${Math.round(drawn.top * 100)} % of a produced word's attention`);
    box.append(element("h2", { dir: "auto" }, view.sourceText), element("p", { dir: "auto" }, view.targetText));
    if (sentence.model) box.prepend(element("h3", {}, sentence.model));
    box.append(drawn.source.line, drawn.target.line, drawn.status, scroll, scale);
    if (sentence.measured) box.append(element("p", { class: "measured" }, sentence.measured));
    listen(box, drawn);
    return box;
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

  const layers = data.sentences[0].words.attention;
  choice("layer", layers.length);
  choice("head", layers[0].length);
  for (const name of ["pieces", "transpose"]) {
    const box = document.getElementById(name);
    box.checked = state[name];
    box.addEventListener("change", () => { state[name] = box.checked; redraw(); });
  }
  document.getElementById("sentences").classList.toggle("compared", isCompared);
  redraw();
})();
