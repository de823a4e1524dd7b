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

// What is pressed is marked on buttons that stay, so that focus and place stay too: each has a
// function that says whether it is.
const buttons = new Map();

function press() {
  for (const [button, pressed] of buttons) button.setAttribute("aria-pressed", String(pressed()));
}

function addLegend(card) {
  const names = unique(card.figure.series.filter((s) => !s.faint).map((s) => s.name));
  for (const name of names) {
    const s = card.figure.series.find((x) => x.name === name);
    const b = named(name, allLike(name), s.look, s.shape === "bars" || s.shape === "marks", s.shape === "marks");
    buttons.set(b, () => shown(s));
    card.legend.append(b);
  }
}

// widespread lists the names that are no protocol's and in a third of the figures at least: those of
// one or two have a legend there.
function widespread(protocols) {
  const names = data.figures.map((f) => unique(f.series.filter((s) => !s.faint).map((s) => s.name)));
  return unique(names.flat()).filter((name) => !protocols.includes(name) &&
    names.filter((list) => list.includes(name)).length * 3 >= names.length);
}

const showAll = Object.assign(document.createElement("button"), { type: "button", textContent: "show all" });

// addToggles lists protocols, and names that are no protocol's, unless there is but one.
function addToggles() {
  const protocols = allProtocols(), nav = document.getElementById("toggles");
  for (const list of [protocols, widespread(protocols)]) {
    if (list.length < 2) continue;
    const div = document.createElement("div");
    div.className = list.length > 16 ? "row long" : "row";
    for (const name of list) {
      const b = named(name, list, lookOf(name), true);
      b.classList.add("chip");
      buttons.set(b, () => !state.off.has(name));
      div.append(b);
    }
    nav.append(div);
  }
  nav.hidden = !nav.firstChild;
  if (nav.hidden) return;
  showAll.className = "chip plain";
  showAll.addEventListener("click", () => {
    state.off.clear();
    changed();
  });
  nav.firstChild.append(showAll);
}

function tool(card, text, title, click) {
  const b = Object.assign(document.createElement("button"), { type: "button", textContent: text, title });
  b.addEventListener("click", () => {
    state.see = card.figure.name;
    click();
    changed();
  });
  card.tools.append(b);
  return b;
}

function addTools(card) {
  const figure = card.figure;
  card.zoomOut = tool(card, "zoom out", "show all again", () => state.zoom.delete(figure.name));
  for (const axis of ["x", "y"]) {
    if (axis === "x" && figure.groups) continue;
    const b = tool(card, "log " + axis, "logarithmic " + axis + " axis", () => {
      const own = figure[axis].log ? "log" : "linear", now = isLog(figure, axis) ? "linear" : "log";
      if (now === own) state[axis].delete(figure.name); else state[axis].set(figure.name, now);
      state.zoom.delete(figure.name);
    });
    buttons.set(b, () => isLog(figure, axis));
  }
  const wide = tool(card, "wide", "as wide as the page", () => {
    if (!state.wide.delete(figure.name)) state.wide.add(figure.name);
  });
  buttons.set(wide, () => state.wide.has(figure.name));
  tool(card, "link", "make the page's address lead to this figure", () => {});
}
