// The page: cards of figures, drawn when they come into sight and when what is shown changes.

const cards = [], stale = new Set();

// drawStale draws what is stale and at most half a screen away.
function drawStale() {
  const margin = innerHeight / 2;
  for (const card of stale) {
    const { top, bottom } = card.element.getBoundingClientRect();
    if (bottom < -margin || top > innerHeight + margin) continue;
    stale.delete(card);
    draw(card);
  }
}

function refresh() {
  press();
  showAll.hidden = !state.off.size;
  for (const card of cards) {
    card.element.classList.toggle("wide", state.wide.has(card.figure.name));
    card.zoomOut.hidden = !state.zoom.has(card.figure.name);
    stale.add(card);
  }
  drawStale();
}

// seeFigure scrolls to the figure that the address leads to.
function seeFigure() {
  const card = cards.find((c) => c.figure.name === state.see);
  if (card) card.element.scrollIntoView();
}

// changed follows a change of state by the reader.
function changed() {
  writeState();
  refresh();
}

function start() {
  for (const figure of data.figures) {
    const element = document.querySelector('figure[data-name="' + figure.name + '"]');
    const part = (name) => element.querySelector("." + name);
    const hover = Object.assign(document.createElement("div"), { className: "hover", hidden: true });
    element.append(hover);
    const [plot, legend, tools] = ["plot", "legend", "tools"].map(part);
    const card = { figure, element, hover, chart: null, plot, legend, tools };
    cards.push(card);
    addLegend(card);
    addTools(card);
  }
  addToggles();
  window.addEventListener("scroll", drawStale, { passive: true });
  let width = innerWidth;
  window.addEventListener("resize", () => {
    if (innerWidth === width) return; // a phone's address bar came or went
    width = innerWidth;
    for (const card of cards) stale.add(card);
    drawStale();
  });
}

// On paper all is unfolded, and figures are as sharp as print.
let folded = [];
window.addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const d of folded) d.open = true;
  for (const card of cards) {
    const three = card.element.closest(".three") !== null;
    draw(card, 3, state.wide.has(card.figure.name) ? 720 : three ? 290 : 420);
  }
});
window.addEventListener("afterprint", () => {
  for (const d of folded) d.open = false;
  for (const card of cards) draw(card);
});

const given = document.getElementById("data"), data = given ? JSON.parse(given.textContent) : { figures: [] };
if (data.figures.length) start();

// show shows what the address says.
function show() {
  readState();
  arrange();
  if (!cards.length) return;
  refresh();
  seeFigure();
}

show();
window.addEventListener("hashchange", show);
