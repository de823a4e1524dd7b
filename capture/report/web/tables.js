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

// makeSortable turns the headings of a table, the page's number of which is given, into buttons.
function makeSortable(table, number) {
  const own = [...table.tBodies[0].rows], heads = [...table.querySelectorAll("thead th")];
  if (own.length < 2) return;
  heads.forEach((th, column) => {
    const b = Object.assign(document.createElement("button"), { type: "button", textContent: th.textContent });
    th.replaceChildren(b);
    b.addEventListener("click", () => {
      const [was, way] = state.sort.get(number) || [];
      if (was !== column) state.sort.set(number, [column, "up"]);
      else if (way === "up") state.sort.set(number, [column, "down"]);
      else state.sort.delete(number);
      writeState();
      sortTable(table, own, heads, state.sort.get(number));
    });
  });
  sorters.push(() => sortTable(table, own, heads, state.sort.get(number)));
}

// sorters sort each table as the state says.
const sorters = [];

// sortTable sorts by a column, or puts the rows as they came.
function sortTable(table, own, heads, [column, way] = []) {
  for (const th of heads) th.removeAttribute("aria-sort");
  const by = heads[column], sign = way === "down" ? -1 : 1, cell = (row) => row.cells[column].textContent;
  if (by) by.setAttribute("aria-sort", way === "down" ? "descending" : "ascending");
  repeatNames(own, by !== undefined);
  table.tBodies[0].append(...(by ? [...own].sort((a, b) => compareCells(cell(a), cell(b), sign)) : own));
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

const folds = [...document.querySelectorAll("details")], titleOf = (d) => d.querySelector("summary h2").textContent;
for (const d of folds) {
  d.dataset.open = d.open; // as it comes
  d.querySelector("summary").addEventListener("click", () => {
    if (!state.fold.delete(titleOf(d))) state.fold.add(titleOf(d));
    writeState();
  });
  d.addEventListener("toggle", () => d.querySelectorAll("table").forEach(stick));
}

// arrange folds and sorts as the state says.
function arrange() {
  for (const d of folds) d.open = (d.dataset.open === "true") !== state.fold.has(titleOf(d));
  for (const sort of sorters) sort();
}

document.querySelectorAll("details table").forEach((table, i) => {
  makeSortable(table, String(i));
  stick(table);
});
