// Tables are sorted by the column whose heading is clicked: once up, twice down, and then
// as they came. What has no value stays last.

// rank is what a cell is sorted by: numbers before words before nothing.
function rank(text) {
  const word = text.trim();
  if (word === "" || word === "-") return [2, 0, ""];
  const number = parseFloat(word.replace(/^[<>]/, ""));
  return Number.isNaN(number) ? [1, 0, word] : [0, number, word];
}

function compareCells(a, b, sign) {
  const x = rank(a), y = rank(b);
  return x[0] - y[0] || sign * (x[1] - y[1] || x[2].localeCompare(y[2], "en", { numeric: true }));
}

// repeatNames writes the first cell of rows under a name that they share, or takes that away again:
// in another order they would be taken for the row's above.
function repeatNames(rows, repeat) {
  let name = "";
  for (const { cells: [first] } of rows) {
    if (first.textContent.trim() && !first.classList.contains("again")) {
      name = first.textContent;
      continue;
    }
    first.textContent = repeat ? name : "";
    first.classList.toggle("again", repeat);
  }
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
      repeatNames(own, was !== "descending");
      if (was === "descending") return body.append(...own);
      th.setAttribute("aria-sort", was ? "descending" : "ascending");
      const sign = was ? -1 : 1, cell = (row) => row.cells[column].textContent;
      body.append(...[...own].sort((a, b) => compareCells(cell(a), cell(b), sign)));
    });
  });
}

// stick keeps the columns that say what a row is in sight, as far as they leave room for others.
function stick(table) {
  const most = table.parentNode.clientWidth * 0.72, rows = [...table.rows];
  if (!rows.length || !most) return; // folded
  const heads = [...rows[0].cells];
  let left = 0;
  for (let i = 0; i < heads.length && heads[i].classList.contains("left"); i++) {
    const room = left + heads[i].offsetWidth <= most && !table.classList.contains("sentences") || i === 0;
    for (const row of rows) {
      row.cells[i].classList.toggle("stuck", room);
      row.cells[i].style.left = room ? left + "px" : "";
    }
    if (!room) break;
    left += heads[i].offsetWidth;
  }
}

for (const table of document.querySelectorAll("details table")) {
  makeSortable(table);
  stick(table);
  table.closest("details").addEventListener("toggle", () => stick(table));
}
