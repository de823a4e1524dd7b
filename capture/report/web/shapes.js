// What uPlot has no shape for, drawn on its canvas: grey outside the measured window,
// stages, faults, bars, dots, spreads and crosses. k is how many pixels of the canvas a pixel of
// the page has.

const colorOf = (look) => data.colors[look % data.colors.length];
const dashOf = (look, k) => data.dashes[Math.floor(look / 2) % data.dashes.length].map((v) => v * 1.7 * k);

// faint is a color mixed with white, of which it takes a share.
function faint(color, white = 0.72) {
  const part = (i) => Math.round(parseInt(color.slice(i, i + 2), 16) * (1 - white) + 255 * white);
  return "rgb(" + [1, 3, 5].map(part).join(",") + ")";
}

function clipped(u, draw) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.setLineDash([]);
  draw(ctx, bbox, (x) => u.valToPos(x, "x", true), (y) => u.valToPos(y, "y", true));
  ctx.restore();
}

function drawWindow(u, time) {
  clipped(u, (ctx, box, X) => {
    ctx.fillStyle = "#f1f1ef";
    for (const [from, to] of [[0, time.from], [time.to, time.end]]) {
      if (to > from) ctx.fillRect(X(from), box.top, X(to) - X(from), box.height);
    }
  });
}

function drawFaults(u, time, k) {
  clipped(u, (ctx, box, X) => {
    (time.faults || []).forEach((row, i) => {
      ctx.fillStyle = colorOf(row.look);
      for (const [from, to] of row.spans) {
        ctx.fillRect(X(from), box.top + box.height - (i + 1) * 5 * k, Math.max(k, X(to) - X(from)), 4 * k);
      }
    });
  });
  const { ctx, bbox: box } = u;
  ctx.save();
  ctx.font = 11 * k + "px Liberation Sans, Arial, sans-serif";
  ctx.textAlign = "center";
  ctx.fillStyle = ctx.strokeStyle = "#5b6369";
  ctx.lineWidth = k;
  ctx.setLineDash([3 * k, 3 * k]);
  (time.stages || []).forEach((at, i) => {
    const x = u.valToPos(at, "x", true);
    if (x < box.left || x > box.left + box.width) return;
    ctx.beginPath();
    ctx.moveTo(x, box.top);
    ctx.lineTo(x, box.top + box.height);
    ctx.stroke();
    ctx.fillText(i + 1, x, box.top - 3 * k);
  });
  ctx.restore();
}

// drawGuides draws dotted lines with their labels.
function drawGuides(u, guides, k) {
  clipped(u, (ctx, box, X, Y) => {
    ctx.font = 11 * k + "px Liberation Sans, Arial, sans-serif";
    ctx.textAlign = "right";
    ctx.fillStyle = ctx.strokeStyle = "#1d2125";
    ctx.lineWidth = k;
    ctx.setLineDash([2 * k, 3 * k]);
    let row = 0; // labels of vertical lines stand below each other
    for (const g of guides) {
      const x = g.x ? X(g.x) : box.left + box.width, y = g.x ? box.top : Y(g.y);
      ctx.beginPath();
      ctx.moveTo(g.x ? x : box.left, g.x ? box.top + box.height : y);
      ctx.lineTo(x, y);
      ctx.stroke();
      ctx.fillText(g.label, x - 3 * k, g.x ? y + 12 * k * ++row : y - 3 * k);
    }
  });
}

// drawBars draws the series' bars side by side in their groups: solid to y, from there to
// high in a lighter shade, hatched where samples are few.
function drawBars(u, list, k) {
  clipped(u, (ctx, box, X, Y) => {
    const each = 0.82 / list.length, bottom = box.top + box.height;
    list.forEach((s, n) => {
      const few = new Set(s.hollow || []), color = colorOf(s.look);
      s.x.forEach((group, i) => {
        const left = X(group - 0.41 + each * (n + 0.05)), width = X(group - 0.41 + each * (n + 0.95)) - left;
        const middle = Y(s.y[i]), top = Y(s.high[i]);
        ctx.fillStyle = faint(color, 0.66);
        ctx.fillRect(left, top, width, middle - top);
        if (few.has(i)) hatch(ctx, left, top, width, middle - top, color, k);
        ctx.fillStyle = color;
        ctx.fillRect(left, middle, width, bottom - middle);
        if (s.most) drawSpread(ctx, left + width / 2, Y, box, s.least[i], s.most[i], "#1d2125", k);
      });
    });
  });
}

// drawSpread draws a thin line from the least to the most of what a point is the median of.
function drawSpread(ctx, x, Y, box, least, most, color, k) {
  if (!(most > least)) return;
  const low = Y(least), bottom = Number.isFinite(low) ? low : box.top + box.height, top = Y(most), r = 3.5 * k;
  ctx.strokeStyle = color;
  ctx.lineWidth = 1.2 * k;
  ctx.beginPath();
  ctx.moveTo(x, bottom);
  ctx.lineTo(x, top);
  for (const y of [bottom, top]) {
    ctx.moveTo(x - r, y);
    ctx.lineTo(x + r, y);
  }
  ctx.stroke();
}

function hatch(ctx, left, top, width, height, color, k) {
  ctx.save();
  ctx.strokeStyle = color;
  ctx.lineWidth = k;
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.stroke();
  ctx.clip();
  ctx.beginPath();
  for (let at = -width; at < height; at += 4 * k) {
    ctx.moveTo(left, top + height - at);
    ctx.lineTo(left + width, top + height - at - width);
  }
  ctx.stroke();
  ctx.restore();
}

function drawDots(u, s, k) {
  clipped(u, (ctx, box, X, Y) => {
    const hollow = new Set(s.hollow || []);
    if (s.most) s.x.forEach((x, i) => drawSpread(ctx, X(x), Y, box, s.least[i], s.most[i], colorOf(s.look), k));
    ctx.strokeStyle = colorOf(s.look);
    ctx.lineWidth = 1.8 * k;
    s.x.forEach((x, i) => {
      ctx.fillStyle = hollow.has(i) ? "#fff" : colorOf(s.look);
      ctx.beginPath();
      ctx.arc(X(x), Y(s.y[i]), 4 * k, 0, 2 * Math.PI);
      ctx.fill();
      ctx.stroke();
    });
  });
}

// drawNotes writes the notes of points above them, to the left, where curves that rise leave room.
// The last have their room first: what would cover another is left out. What would leave the frame is
// moved back into it.
function drawNotes(u, s, k) {
  clipped(u, (ctx, box, X, Y) => {
    ctx.font = 11 * k + "px " + fontFamily;
    ctx.textAlign = "right";
    ctx.fillStyle = colorOf(s.look);
    const taken = [], height = 12 * k;
    for (let i = s.x.length - 1; i >= 0; i--) {
      const note = s.notes ? s.notes[i] : "", bottom = Y(s.y[i]) - 5 * k;
      const width = ctx.measureText(note).width, left = Math.max(X(s.x[i]) - 5 * k - width, box.left + 2 * k);
      const right = left + width;
      if (taken.some((t) => left < t.right && t.left < right && Math.abs(bottom - t.bottom) < height)) continue;
      taken.push({ left, right, bottom });
      ctx.fillText(note, right, bottom);
    }
  });
}

function drawCrosses(u, s, k) {
  clipped(u, (ctx, box, X, Y) => {
    ctx.strokeStyle = colorOf(s.look);
    ctx.lineWidth = 2 * k;
    s.x.forEach((v, i) => {
      const x = X(v), y = Y(s.y[i]), r = 4.5 * k;
      ctx.beginPath();
      ctx.moveTo(x - r, y - r);
      ctx.lineTo(x + r, y + r);
      ctx.moveTo(x - r, y + r);
      ctx.lineTo(x + r, y - r);
      ctx.stroke();
    });
  });
}
