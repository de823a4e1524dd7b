// Names: above each figure those in it, at the head of the page all.

const svgNS = "http://www.w3.org/2000/svg";

// swatch is a piece of line of a look, or a square, or a cross.
function swatch(look, square, cross) {
  const svg = document.createElementNS(svgNS, "svg"), line = document.createElementNS(svgNS, "line");
  const width = square ? 10 : 24;
  svg.setAttribute("width", width);
  svg.setAttribute("height", 10);
  svg.setAttribute("aria-hidden", "true");
  const set = { x1: 0, x2: width, y1: 5, y2: 5, stroke: colorOf(look), "stroke-width": square ? 9 : 3 };
  if (!square) set["stroke-dasharray"] = dashOf(look, 1).join(" ");
  for (const [k, v] of Object.entries(set)) line.setAttribute(k, v);
  svg.append(line);
  if (cross) {
    const path = document.createElementNS(svgNS, "path");
    for (const [k, v] of Object.entries({ d: "M1 1L9 9M1 9L9 1", stroke: colorOf(look), "stroke-width": 2 })) {
      path.setAttribute(k, v);
    }
    svg.replaceChildren(path);
  }
  return svg;
}

// named is a button that hides and shows a name or protocol, one of all that are like it.
function named(name, all, look, square, cross) {
  const b = Object.assign(document.createElement("button"), { type: "button" });
  if (look !== undefined) b.append(swatch(look, square, cross));
  b.append(name);
  b.setAttribute("aria-pressed", String(!state.off.has(name)));
  b.addEventListener("click", (e) => {
    flip(name, all, e.shiftKey);
    changed();
  });
  return b;
}

const unique = (list) => [...new Set(list)];
const everySeries = () => data.figures.flatMap((f) => f.series.filter((s) => !s.faint));
const allProtocols = () => unique(everySeries().map((s) => s.protocol || "").filter((p) => p));

// allLike lists the names that are toggled beside this one.
function allLike(name) {
  const protocols = allProtocols();
  if (protocols.includes(name)) return protocols;
  return unique(everySeries().map((s) => s.name)).filter((n) => !protocols.includes(n));
}

// lookOf is the look of a name or protocol, undefined if its series have several.
function lookOf(name) {
  const own = everySeries().filter((s) => s.name === name);
  const looks = unique((own.length ? own : everySeries().filter((s) => s.protocol === name)).map((s) => s.look));
  return looks.length === 1 ? looks[0] : undefined;
}

function drawLegend(card) {
  const names = unique(card.figure.series.filter((s) => !s.faint).map((s) => s.name));
  card.legend.replaceChildren(...names.map((name) => {
    const s = card.figure.series.find((x) => x.name === name);
    const b = named(name, allLike(name), s.look, s.shape === "bars" || s.shape === "marks", s.shape === "marks");
    if (!shown(s)) b.setAttribute("aria-pressed", "false");
    return b;
  }));
}

// drawToggles lists protocols, and names that are no protocol's, unless there is but one.
function drawToggles() {
  const rows = [], protocols = allProtocols();
  const row = (list) => {
    if (list.length < 2) return;
    const div = document.createElement("div");
    div.className = list.length > 16 ? "row long" : "row";
    for (const name of list) {
      const b = named(name, list, lookOf(name), true);
      b.classList.add("chip");
      div.append(b);
    }
    rows.push(div);
  };
  row(protocols);
  row(unique(everySeries().map((s) => s.name)).filter((n) => !protocols.includes(n)));
  if (rows.length && state.off.size) {
    const all = Object.assign(document.createElement("button"), { type: "button", textContent: "show all" });
    all.className = "chip plain";
    all.addEventListener("click", () => {
      state.off.clear();
      changed();
    });
    rows[0].prepend(all);
  }
  const nav = document.getElementById("toggles");
  nav.hidden = rows.length === 0;
  nav.replaceChildren(...rows);
}

function tool(text, pressed, title, click) {
  const b = Object.assign(document.createElement("button"), { type: "button", textContent: text, title });
  if (pressed !== null) b.setAttribute("aria-pressed", String(pressed));
  b.addEventListener("click", click);
  return b;
}

function drawTools(card) {
  const figure = card.figure, list = [];
  if (state.zoom.has(figure.name)) list.push(tool("zoom out", null, "show all again", () => unzoom(figure)));
  for (const axis of ["x", "y"]) {
    if (axis === "x" && figure.groups) continue;
    const log = isLog(figure, axis);
    list.push(tool("log " + axis, log, "logarithmic " + axis + " axis", () => {
      const own = figure[axis].log ? "log" : "linear", now = log ? "linear" : "log";
      if (now === own) state[axis].delete(figure.name); else state[axis].set(figure.name, now);
      state.zoom.delete(figure.name);
      changed();
    }));
  }
  const wide = state.wide.has(figure.name);
  list.push(tool("wide", wide, "as wide as the page", () => {
    if (!state.wide.delete(figure.name)) state.wide.add(figure.name);
    changed();
  }));
  card.tools.replaceChildren(...list);
}
