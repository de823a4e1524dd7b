// Tables are sorted by the column whose heading is clicked: once up, twice down, and then
// as they came.

// rank is what a cell is sorted by: numbers before words before nothing.
function rank(text) {
  const word = text.trim();
  if (word === "" || word === "-") return [2, 0, ""];
  const number = parseFloat(word.replace(/^[<>]/, ""));
  return Number.isNaN(number) ? [1, 0, word] : [0, number, word];
}

function compareCells(a, b) {
  const x = rank(a), y = rank(b);
  return x[0] - y[0] || x[1] - y[1] || x[2].localeCompare(y[2], "en", { numeric: true });
}

function makeSortable(table) {
  const body = table.tBodies[0], own = [...body.rows], heads = [...table.querySelectorAll("thead th")];
  if (own.length < 2) return;
  heads.forEach((th, column) => {
    const b = Object.assign(document.createElement("button"), { type: "button", textContent: th.textContent });
    th.replaceChildren(b);
    b.addEventListener("click", () => {
      const was = th.getAttribute("aria-sort");
      for (const other of heads) other.removeAttribute("aria-sort");
      if (was === "descending") return body.append(...own);
      th.setAttribute("aria-sort", was ? "descending" : "ascending");
      const sign = was ? -1 : 1, cell = (row) => row.cells[column].textContent;
      body.append(...[...own].sort((a, b) => sign * compareCells(cell(a), cell(b))));
    });
  });
}

for (const table of document.querySelectorAll("details table")) makeSortable(table);
