// A figure: uPlot does scales, axes, lines, steps, cursor and the box that zooms.

const fontFamily = '"Liberation Sans", Arial, Helvetica, sans-serif';

// spanOf is what an axis shows: as zoomed, as the figure says, or what the series need.
function spanOf(figure, axis, list) {
  const zoom = state.zoom.get(figure.name), given = figure[axis], log = isLog(figure, axis);
  if (zoom && !(log && zoom[axis === "x" ? 0 : 2] <= 0)) return axis === "x" ? zoom.slice(0, 2) : zoom.slice(2);
  if (axis === "x" && figure.groups) return [-0.5, figure.groups.length - 0.5];
  let low = Infinity, high = -Infinity;
  const take = (v) => {
    if (log && v <= 0) return;
    low = Math.min(low, v);
    high = Math.max(high, v);
  };
  for (const s of list) {
    s[axis].forEach(take);
    if (axis === "y") for (const more of [s.high, s.least, s.most]) if (more) more.forEach(take);
  }
  if (axis === "x" && figure.time && !log) [low, high] = [0, figure.time.end];
  const min = given.min || 0, max = given.max || 0;
  if (max > min) {
    if (log) return [min > 0 ? min : low < max ? low * 0.8 : max / 1000, max];
    return [given.log ? 0 : min, max];
  }
  if (!(low <= high)) return log ? [0.1, 10] : [0, 1];
  if (axis === "x" && figure.time) return log ? [low, Math.max(high, low * 1.01)] : [low, high];
  if (log) return [low * 0.8, high * 1.25];
  if (axis === "x") { // as tight as the picture, with room for marks at the edges
    const room = high > low ? (high - low) * 0.04 : 1;
    return [low < 0 ? low - room : Math.max(0, low - room), high + room];
  }
  low = Math.min(0, low);
  return [low, high > low ? high + (high - low) * 0.06 : low + 1];
}

// logTicks are powers of ten, with 2 and 5 of each where they are few; over less than a
// decade round numbers.
function logTicks(low, high, most) {
  const decades = Math.log10(high / low), ticks = [];
  if (decades < 0.9) {
    let step = 10 ** Math.floor(Math.log10((high - low) / 4));
    for (const m of [1, 2, 5, 10]) if ((high - low) / (step * m) <= 6) { step *= m; break; }
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); i++) {
      ticks.push(+(i * step).toPrecision(12));
    }
    return ticks;
  }
  const parts = decades < most / 3 ? [1, 2, 5] : [1], skip = Math.ceil(decades / most);
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e += skip) {
    for (const m of parts) {
      const v = +(m + "e" + e);
      if (v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9)) ticks.push(v);
    }
  }
  return ticks;
}

const tickLabel = (v) => v === null ? "" : String(+v.toPrecision(6)).replace("e+", "e");

// labelOf is a group's label, in lines of a word each where groups are narrow, with the begin of
// words that would reach over the next group's.
function labelOf(text, room) {
  if (text.length * 6.8 <= room) return text;
  const most = Math.max(8, Math.floor(room / 6.8));
  const words = text.split(" ").slice(0, 3);
  return words.map((word) => word.length > most ? word.slice(0, most - 1) + "\u2026" : word).join("\n");
}

function axisOf(figure, axis, span, k, width) {
  const log = isLog(figure, axis), across = axis === "x", labels = !across || !figure.groups;
  const groups = (figure.groups || []).map((g) => labelOf(g, (width - 70) / figure.groups.length));
  const lines = Math.max(1, ...groups.map((g) => g.split("\n").length));
  const options = {
    scale: axis, stroke: "#1d2125", font: 12 * k + "px " + fontFamily, label: figure[axis].label || null,
    labelFont: 12 * k + "px " + fontFamily, labelSize: 18 * k, labelGap: across ? 0 : 2 * k, gap: 4 * k,
    grid: { show: labels, stroke: "#e4e4e2", width: k }, ticks: { stroke: "#9aa1a6", width: k, size: 4 * k },
    border: { show: true, stroke: "#9aa1a6", width: k }, space: (across ? 56 : 32) * k,
    values: (u, ticks) => ticks.map(tickLabel),
    size: across ? (lines > 1 ? 40 : 26) * k : (u, values) =>
      (14 + 6.8 * Math.max(2, ...(values || []).map((v) => String(v).length))) * k,
  };
  if (across && figure.groups) {
    options.splits = () => groups.map((_, i) => i);
    options.values = () => groups;
    options.filter = (u, ticks) => ticks;
  } else if (log) {
    options.splits = () => logTicks(span[0], span[1], across ? 8 : 6);
    options.filter = (u, ticks) => ticks;
  }
  return options;
}

// draw draws the figure of a card anew, as wide as there is room; for paper lower, with k
// pixels of the canvas for each of the page.
function draw(card, k = 1, width = card.plot.clientWidth) {
  const figure = card.figure, list = figure.series.filter(shown);
  if (card.chart) card.chart.destroy();
  const wide = state.wide.has(figure.name);
  const spans = { x: spanOf(figure, "x", list), y: spanOf(figure, "y", list) };
  const bars = list.filter((s) => s.shape === "bars"), lines = list.filter((s) => s.shape !== "bars");
  const scale = (axis) => ({ time: false, distr: isLog(figure, axis) ? 3 : 1, range: () => spans[axis] });
  // uPlot wants a series that has points: the corners are one that does not show.
  const facets = [{ scale: "x", auto: true }, { scale: "y", auto: true }];
  card.chart = new uPlot({
    mode: 2, width: width * k, height: (wide ? 460 : k > 1 ? 225 : 300) * k, padding: [14 * k, 12 * k, 0, 0],
    legend: { show: false },
    cursor: {
      points: { show: false }, dataIdx: () => null, x: !figure.groups, y: false,
      drag: { x: true, y: true, uni: 30, setScale: false },
      bind: { dblclick: () => () => { unzoom(figure); return null; } },
    },
    scales: { x: scale("x"), y: scale("y") },
    axes: [axisOf(figure, "x", spans.x, k, width), axisOf(figure, "y", spans.y, k, width)],
    series: [{}, { facets, paths: () => null, points: { show: false } }, ...lines.map((s) => ({
      facets, stroke: s.faint ? faint(colorOf(s.look)) : colorOf(s.look), width: (s.width || 1.6) * 1.2 * k,
      dash: dashOf(s.look, k), points: { show: false },
      paths: s.shape === "marks" ? () => null : s.shape === "steps" ? uPlot.paths.stepped({ align: 1 }) :
        uPlot.paths.linear(),
    }))],
    hooks: {
      drawClear: [(u) => figure.time && drawWindow(u, figure.time)],
      draw: [(u) => {
        drawBars(u, bars, k);
        drawGuides(u, figure.guides || [], k);
        for (const s of lines) {
          if (s.shape === "curve") drawDots(u, s, k);
          if (s.shape === "curve" && figure.labeled) drawNotes(u, s, k);
          if (s.shape === "marks") drawCrosses(u, s, k);
        }
        if (figure.time) drawFaults(u, figure.time, k);
        drawPin(u, figure, k);
      }],
      ready: [(u) => {
        listenForPins(u, figure);
        showHover(u, card, figure, list);
      }],
      setCursor: [(u) => showHover(u, card, figure, list)],
      setSelect: [(u) => zoomTo(u, figure)],
    },
  }, [null, [spans.x, spans.y], ...lines.map((s) => [s.x, s.y])], card.plot);
  card.plot.dataset.shown = list.filter((s) => !s.faint).map((s) => s.name).join(" ");
}

// zoomTo makes the figure show what was selected. What is as high or wide as the figure
// leaves that axis as it is.
function zoomTo(u, figure) {
  const { left, top, width, height } = u.select, box = u.over;
  if (width < 4 && height < 4) return;
  const span = (from, to, axis) => [u.posToVal(from, axis), u.posToVal(to, axis)].sort((a, b) => a - b);
  const x = span(left, width < 4 ? box.clientWidth : left + width, "x");
  const y = span(top, height < 4 ? box.clientHeight : top + height, "y");
  if (drawable(x, leastZoom) && drawable(y, leastZoom)) state.zoom.set(figure.name, [...x, ...y]);
  state.see = figure.name;
  changed();
}

function unzoom(figure) {
  state.zoom.delete(figure.name);
  changed();
}
