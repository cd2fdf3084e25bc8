"use strict";
// Everything here is a convenience: without scripts the page says the same.
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const headers = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const collator = new Intl.Collator("en", { numeric: true });
  const key = (row, column) => {
    const cell = row.cells[column];
    if (!headers[column].classList.contains("number")) return cell.textContent;
    return cell.dataset.value === undefined ? NaN : Number(cell.dataset.value);
  };
  const compare = (a, b) => (typeof a === "string" ? collator.compare(a, b) : a - b);
  const hint = document.createElement("span");
  hint.className = "hint";
  hint.textContent = " Press a heading to sort.";
  table.caption.firstElementChild.append(hint);
  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = header.textContent;
    header.textContent = "";
    header.append(button);
    button.addEventListener("click", () => {
      const descending = header.getAttribute("aria-sort") === "ascending";
      for (const other of headers) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const keyed = [...body.rows].map((row) => [key(row, column), row]);
      keyed.sort(([a], [b]) => {
        // What has no number stands last, whatever the direction
        if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
        return descending ? compare(b, a) : compare(a, b);
      });
      body.append(...keyed.map(([, row]) => row));
    });
  });
}

const status = document.getElementById("copied");
for (const block of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = `Copy the ${block.dataset.copy}`;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.textContent);
      status.textContent = `Copied the ${block.dataset.copy}.`;
    } catch {
      getSelection().selectAllChildren(block);
      status.textContent = `The ${block.dataset.copy} is selected; copy it with the keyboard.`;
    }
  });
  block.after(button);
}
