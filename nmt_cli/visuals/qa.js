"use strict";
// Shows the entries of the checks that are ticked. All text is in the page already.
const boxes = [...document.querySelectorAll("input[data-kind]")];
const entries = [...document.querySelectorAll("li[data-kinds]")];
function show() {
  const kinds = new Set(boxes.filter(box => box.checked).map(box => box.dataset.kind));
  for (const entry of entries) entry.hidden = !entry.dataset.kinds.split("|").some(kind => kinds.has(kind));
}
for (const box of boxes) { box.disabled = false; box.addEventListener("change", show); }
