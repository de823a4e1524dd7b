// The values under the cursor, in a box beside it. A click pins the box to its place, and
// the next one takes it away.

const mostRows = 14;

// digits prints a value with about four significant digits.
function digits(v) {
  const a = Math.abs(v);
  if (a >= 1e6 || (a > 0 && a < 1e-3)) return v.toPrecision(4).replace("e+", "e");
  return String(+(a >= 1000 ? v.toFixed(0) : v.toPrecision(4)));
}

// valueAt is what a series has at x: of steps the one that holds there, of a line the
// nearest; undefined outside of it.
function valueAt(s, x) {
  let low = 0, high = s.x.length - 1;
  if (high < 0 || x < s.x[0] || x > s.x[high]) return undefined;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (s.x[middle] <= x) low = middle; else high = middle - 1;
  }
  const next = low + 1;
  if (s.shape === "line" && next < s.x.length && s.x[next] - x < x - s.x[low]) return s.y[next];
  return s.y[low];
}

// placeAt is the least x at which a distribution has a share; undefined if it ends below.
function placeAt(s, share) {
  const i = s.y.findIndex((y) => y >= share);
  return i < 0 ? undefined : s.x[i];
}

// nearest is the point closest to the cursor, within 40 pixels.
function nearest(u, at, list) {
  let best = null, least = 40;
  for (const s of list) {
    s.x.forEach((x, i) => {
      const d = Math.hypot(u.valToPos(x, "x") - at.left, u.valToPos(s.y[i], "y") - at.top);
      if (d < least) [least, best] = [d, { s, i }];
    });
  }
  return best;
}

// spreadOf is a row with the range that a point is the median of, if it has one.
const spreadOf = (s, i) => s.most && s.most[i] > s.least[i] ?
  [[s, "range", digits(s.least[i]) + " to " + digits(s.most[i])]] : [];

// reading is what stands in the box: a title and rows of cells, each of a look.
function reading(u, at, figure, list) {
  const x = u.posToVal(at.left, "x");
  const apart = list.filter((s) => s.shape === "curve" || s.shape === "marks");
  if (apart.length) {
    const hit = nearest(u, at, apart);
    if (!hit) return null;
    const { s, i } = hit;
    const along = figure.groups ? [] : [[s, figure.x.label, digits(s.x[i])]];
    return { title: s.name + (s.notes ? ", " + s.notes[i] : ""),
      rows: [...along, [s, figure.y.label, digits(s.y[i])], ...spreadOf(s, i)] };
  }
  if (figure.groups) {
    const g = Math.round(x), rows = [];
    const parts = figure.parts || [figure.y.label];
    for (const s of list) {
      const i = s.x.indexOf(g);
      if (i < 0) continue;
      const values = [s.y[i], s.high ? s.high[i] : NaN].slice(0, parts.length);
      const range = spreadOf(s, i).map((row) => row[2]), note = s.notes ? s.notes[i] : "";
      rows.push([s, ...values.map((v) => Number.isNaN(v) ? "" : digits(v)), [...range, note].join(" ").trim()]);
    }
    return rows.length ? { title: figure.groups[g], head: ["", ...parts, ""], rows } : null;
  }
  const rows = [];
  if (figure.shares) {
    const share = u.posToVal(at.top, "y");
    if (share < 0 || share > 1) return null;
    for (const s of list) {
      const x = placeAt(s, share);
      rows.push([s, s.name, x === undefined ? "beyond" : digits(x)]);
    }
    return { title: figure.y.label + " " + digits(share) + ": " + figure.x.label, rows };
  }
  for (const s of list) {
    const y = s.faint ? undefined : valueAt(s, x);
    if (y !== undefined) rows.push([s, s.name, digits(y)]);
  }
  return rows.length ? { title: figure.x.label + ": " + digits(x), rows } : null;
}

// pointed is where the cursor is, or else the pin; null if there is neither in sight.
function pointed(u, figure) {
  if (u.cursor.left >= 0) return u.cursor;
  const pin = state.at.get(figure.name);
  if (!pin) return null;
  const at = { left: u.valToPos(pin[0], "x"), top: u.valToPos(pin[1], "y") };
  const inside = at.left >= 0 && at.top >= 0 && at.left <= u.over.clientWidth && at.top <= u.over.clientHeight;
  return inside ? at : null;
}

// drawPin marks the pin.
function drawPin(u, figure, k) {
  const pin = state.at.get(figure.name);
  if (!pin || figure.groups) return;
  clipped(u, (ctx, box, X) => {
    ctx.strokeStyle = "#5b6369";
    ctx.lineWidth = k;
    ctx.setLineDash([4 * k, 3 * k]);
    ctx.beginPath();
    ctx.moveTo(X(pin[0]), box.top);
    ctx.lineTo(X(pin[0]), box.top + box.height);
    ctx.stroke();
  });
}

// listenForPins sets and removes the pin by clicks that drag nothing.
function listenForPins(u, figure) {
  let from = null;
  u.over.addEventListener("mousedown", (e) => { from = [e.clientX, e.clientY]; });
  u.over.addEventListener("click", (e) => {
    if (!from || Math.hypot(e.clientX - from[0], e.clientY - from[1]) > 3) return;
    // The second click of a double one takes back what the first did.
    const before = state.at.get(figure.name), pin = e.detail > 1 ? figure.before : before ? undefined :
      [u.posToVal(u.cursor.left, "x"), u.posToVal(u.cursor.top, "y")];
    if (pin) state.at.set(figure.name, pin); else state.at.delete(figure.name);
    figure.before = before;
    state.see = figure.name;
    writeState();
    u.redraw(false);
  });
}

function showHover(u, card, figure, list) {
  const box = card.hover, at = pointed(u, figure), what = at ? reading(u, at, figure, list) : null;
  box.hidden = !what;
  if (!what) return;
  const table = document.createElement("table");
  const add = (cells, kind, look) => {
    const tr = table.insertRow(), mark = document.createElement("td");
    if (look !== undefined) mark.append(swatch(look, true));
    tr.append(mark);
    for (const c of cells) tr.append(Object.assign(document.createElement(kind), { textContent: c }));
  };
  if (what.head) add(what.head, "th");
  for (const [s, ...cells] of what.rows.slice(0, mostRows)) {
    add(what.head ? [s.name, ...cells] : cells, "td", s.look);
  }
  if (what.rows.length > mostRows) add(["and " + (what.rows.length - mostRows) + " more"], "td");
  box.replaceChildren(Object.assign(document.createElement("b"), { textContent: what.title }), table);
  const plot = card.plot, over = u.over.getBoundingClientRect(), whole = plot.parentNode.getBoundingClientRect();
  const left = over.left - whole.left + at.left, right = left + 14 + box.offsetWidth > whole.width;
  box.style.left = Math.max(0, right ? left - 14 - box.offsetWidth : left + 14) + "px";
  box.style.top = over.top - whole.top + Math.max(0, Math.min(at.top, over.height - box.offsetHeight)) + "px";
}
