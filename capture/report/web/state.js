"use strict";
// What is shown, and the page's address, which keeps it:
//
//   #off=homa,dctcp&wide=slowdown&y:slowdown=linear&zoom:queue=0,2,0,300&at:queue=1.2,100&see=queue
//   #fold=Claims&sort:3=2,down
//
// Names and protocols in off are hidden, figures in wide take the whole width, x and y are
// the scale of an axis where it is not the figure's own, zoom is what a figure shows (from,
// to, along x and y), at is where its values are shown without a cursor, and see is the figure that the
// page is scrolled to: the last that was changed. The sections in fold are not folded as the page comes,
// and sort has the column by which a table is sorted, and which way.
const state = {
  off: new Set(), wide: new Set(), x: new Map(), y: new Map(), zoom: new Map(), at: new Map(), see: "",
  fold: new Set(), sort: new Map(),
};

// The least that a zoom spans, as a share of its values: numbers have steps between them, and
// the address has six digits.
const leastRead = 1e-9, leastZoom = 1e-4;

// drawable reports whether an axis can have a span.
function drawable([from, to], least) {
  return to - from > least * Math.max(Math.abs(from), Math.abs(to)) && Number.isFinite(to - from);
}

function readState() {
  state.see = "";
  for (const part of Object.values(state)) part.clear?.(); // all but see
  for (const pair of location.hash.slice(1).split("&")) {
    const at = pair.indexOf("=");
    if (at < 0) continue;
    let words;
    try {
      words = [pair.slice(0, at), ...pair.slice(at + 1).split(",")].map(decodeURIComponent);
    } catch {
      continue; // no address of ours
    }
    const [key, ...values] = words, colon = key.indexOf(":");
    const kind = colon < 0 ? key : key.slice(0, colon), figure = key.slice(colon + 1);
    if (kind === "off" || kind === "wide" || kind === "fold") {
      for (const v of values) state[kind].add(v);
    } else if (kind === "see") {
      state.see = values[0];
    } else if (kind === "sort" && /^[0-9]+$/.test(values[0]) && (values[1] === "up" || values[1] === "down")) {
      state.sort.set(figure, [+values[0], values[1]]);
    } else if ((kind === "x" || kind === "y") && (values[0] === "log" || values[0] === "linear")) {
      state[kind].set(figure, values[0]);
    } else if (kind === "zoom") {
      const span = values.map(Number);
      if (span.length === 4 && drawable(span.slice(0, 2), leastRead) && drawable(span.slice(2), leastRead)) {
        state.zoom.set(figure, span);
      }
    } else if (kind === "at" && values.length === 2 && values.every((v) => Number.isFinite(+v))) {
      state.at.set(figure, values.map(Number));
    }
  }
}

// writeState puts what is shown into the address, without a step back in the history.
function writeState() {
  const words = [], list = (values) => [...values].map(encodeURIComponent).join(",");
  for (const kind of ["off", "wide", "fold"]) {
    if (state[kind].size) words.push(kind + "=" + list(state[kind]));
  }
  for (const axis of ["x", "y"]) {
    for (const [figure, scale] of state[axis]) words.push(axis + ":" + encodeURIComponent(figure) + "=" + scale);
  }
  for (const kind of ["zoom", "at"]) {
    for (const [figure, values] of state[kind]) {
      words.push(kind + ":" + encodeURIComponent(figure) + "=" + values.map((v) => +v.toPrecision(6)).join(","));
    }
  }
  for (const [table, by] of state.sort) words.push("sort:" + encodeURIComponent(table) + "=" + by.join(","));
  if (state.see) words.push("see=" + encodeURIComponent(state.see));
  history.replaceState(null, "", "#" + words.join("&"));
}

const shown = (series) => !state.off.has(series.name) && !state.off.has(series.protocol || "");

// flip hides or shows a name or protocol; alone leaves it and hides the others of all.
function flip(name, all, alone) {
  if (!alone) {
    if (!state.off.delete(name)) state.off.add(name);
    return;
  }
  const already = all.every((other) => state.off.has(other) === (other !== name));
  state.off.clear();
  if (!already) for (const other of all) if (other !== name) state.off.add(other);
}

const isLog = (figure, axis) => (state[axis].get(figure.name) || (figure[axis].log ? "log" : "linear")) === "log";
