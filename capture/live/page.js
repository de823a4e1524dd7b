"use strict";
(() => {
  const every = 400; // ms between two pictures
  const el = (id) => document.getElementById(id);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  // What is known of the current variant: columns of time, by index.
  let have = { variant: -1, rev: 0, static: null, cols: [], complete: 0, gauges: [] };
  let gauge = "", picture = null, pointed = -1, misses = 0;

  const colorOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const ramps = {
    load: { light: ["#e3eef6", "#5aa5d2", "#00588c", "#00294a"], dark: ["#24323c", "#1f6f9f", "#56b4e9", "#d8f0ff"] },
    queue: { light: ["#f4efe4", "#f3b04a", "#d5500a", "#6e1200"], dark: ["#302a22", "#8a4a08", "#ee7a22", "#ffe7a8"] },
    value: { light: ["#eaf3ee", "#5bbd98", "#00704d", "#003322"], dark: ["#222e2a", "#1c7a5a", "#45cf9f", "#ddfff0"] },
  };
  const hex = (c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16));
  // ramp is the color of a share from 0 to 1.
  function ramp(name, x) {
    const stops = ramps[name][dark.matches ? "dark" : "light"];
    const at = Math.max(0, Math.min(1, x)) * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(at));
    const a = hex(stops[i]), b = hex(stops[i + 1]);
    return "rgb(" + a.map((v, k) => Math.round(v + (b[k] - v) * (at - i))).join(",") + ")";
  }
  const digits = (x) => x === 0 ? "0" : x >= 1000 ? Math.round(x).toLocaleString("en") : x >= 100 ? x.toFixed(0) :
    x >= 10 ? x.toFixed(1) : x.toFixed(2);
  const kb = (bytes) => digits(bytes / 1000) + " KB";
  const ms = (ns) => (ns / 1e6).toFixed(ns < 1e8 ? 2 : 0) + " ms";

  async function poll() {
    const q = new URLSearchParams({ variant: have.variant, rev: have.rev, gauge });
    try {
      const answer = await fetch("picture?" + q, { cache: "no-store" });
      if (!answer.ok) throw new Error(answer.status);
      take(await answer.json());
      misses = 0;
    } catch (e) {
      misses++;
    }
    if (picture && picture.ended) {
      return note("The run has ended. This page stays as it is; report.html has the results.");
    }
    if (misses > 4) return note("sirdbed does not answer any more: this is the last that was seen of the run.", true);
    setTimeout(poll, every);
  }

  function note(text, bad) {
    el("note").textContent = text;
    el("note").className = bad ? "bad" : "";
    el("note").hidden = false;
  }

  function take(p) {
    picture = p;
    if (p.current !== have.variant || p.static) {
      if (p.static) have = { variant: p.current, rev: 0, static: p.static, cols: [], complete: 0, gauges: [] };
      else have.rev = 0;
    }
    if (have.static && p.current === have.variant) {
      have.rev = p.rev;
      have.complete = p.complete;
      for (const c of p.columns) have.cols[c.i] = c;
      takeGauges(p.gauges || []);
    }
    draw();
  }

  // takeGauges lists the gauges that there are. The first is the protocol's first.
  function takeGauges(list) {
    if (list.map((g) => g.name).join() === have.gauges.map((g) => g.name).join()) return;
    have.gauges = list;
    const names = list.map((g) => g.name), select = el("gauge");
    select.replaceChildren(...names.map((n) => new Option(n.replaceAll("_", " "), n)));
    if (!names.includes(gauge)) choose(names[0] || "");
    select.value = gauge;
  }

  function choose(name) {
    gauge = name;
    have.rev = 0; // all columns again
  }

  const column = () => pointed >= 0 ? pointed : Math.max(0, Math.min(have.complete, have.cols.length) - 1);

  function draw() {
    head();
    tables();
    if (!have.static) return;
    fabric();
    charts();
  }

  function head() {
    const p = picture, g = p.current >= 0 ? p.seen[p.current] : null;
    el("title").textContent = p.scenario + " on " + p.engine + (g ? ": " + g.variant : "");
    const state = p.ended && (!g || g.state !== "failed") ? "ended" : g ? g.state : "waiting";
    el("state").textContent = g && p.seen.length > 1 ? state + ", " + g.number + " of " + g.of : state;
    el("state").className = "state " + (state === "ended" ? "done" : state);
    el("clock").textContent = g ? ms(g.reached) + " of " + ms(g.end) + " nominal, " + g.seconds.toFixed(0) + " s" : "";
    const all = g && g.state !== "running" ? 1 : g ? g.reached / Math.max(1, g.end) : 0;
    el("bar").style.width = 100 * all + "%";
    document.title = Math.floor(100 * all) + " % " + p.scenario + ", sirdbed";
    if (p.why || p.damaged) note(p.why || p.damaged, true);
    const slow = g && g.slowdowns ? g.slowdowns[0] : null, queue = g && g.queues ? g.queues[0] : null;
    const top = g && g.hosts ? g.hosts[0] : null;
    tiles([
      [g ? digits(g.gbps) : "-", "Gbps/host"],
      [top ? digits(top.gbps) : "-", top ? "Gbps, " + top.name : "top host"],
      [g ? g.done.toLocaleString("en") : "-", "of " + (g ? g.offered.toLocaleString("en") : 0) + " messages" +
        (g && g.failed ? ", " + g.failed + " failed" : "")],
      [slow ? slow.p50.toFixed(2) : "-", "slowdown p50"],
      [slow ? slow.p99.toFixed(2) : "-", "slowdown p99"],
      [queue ? kb(queue.deepest) : "-", queue ? "deepest, " + queue.name : "deepest queue"],
    ]);
    el("foot").textContent = "Results: " + p.dir;
  }

  function tiles(list) {
    const box = el("tiles");
    while (box.children.length < list.length) {
      const t = document.createElement("div");
      t.className = "tile";
      t.append(document.createElement("b"), document.createElement("span"));
      box.append(t);
    }
    list.forEach(([value, name], i) => {
      box.children[i].children[0].textContent = value;
      box.children[i].children[1].textContent = name;
    });
  }

  function table(id, headings, rows, current) {
    const row = (cells, kind) => {
      const tr = document.createElement("tr");
      for (const c of cells) tr.append(Object.assign(document.createElement(kind), { textContent: c }));
      return tr;
    };
    const body = rows.map((r, i) => Object.assign(row(r, "td"), { className: i === current ? "current" : "" }));
    el(id).replaceChildren(row(headings, "th"), ...body);
  }

  function tables() {
    const p = picture, g = p.current >= 0 ? p.seen[p.current] : null, sizes = have.static ? have.static.borders : [];
    const size = (group) => group === "all" ? "all sizes" : group + ": " + (sizes[group.charCodeAt(0) - 65] || "");
    table("slowdown", ["messages", "ended", "p50", "p99"], ((g && g.slowdowns) || []).map((s) =>
      [size(s.group), s.count.toLocaleString("en"), s.p50.toFixed(2), s.p99.toFixed(2)]));
    table("queues", ["port", "now", "deepest"], ((g && g.queues) || []).map((q) =>
      [q.name, kb(q.now), kb(q.deepest)]));
    const of = (v, f) => v ? f(v) : "-";
    table("variants", ["variant", "", "Gbps/host", "top host", "messages", "slowdown p50", "p99", "deepest queue"],
      p.variants.map((name, i) => {
        const v = p.seen[i], s = v && v.slowdowns ? v.slowdowns[0] : null;
        return [name, v ? v.state : "waiting", of(v, () => digits(v.gbps)),
          of(v && v.hosts && v.hosts[0], (h) => digits(h.gbps)), of(v, () => v.done.toLocaleString("en")),
          of(s, () => s.p50.toFixed(2)), of(s, () => s.p99.toFixed(2)),
          of(v && v.queues && v.queues[0], (q) => kb(q.deepest))];
      }), p.current);
  }

  const svgNS = "http://www.w3.org/2000/svg";
  let drawing = null; // of the fabric: its links and queues, by port

  function shape(kind, attributes, text) {
    const e = document.createElementNS(svgNS, kind);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    if (text) e.textContent = text;
    drawing.svg.append(e);
    return e;
  }

  // build draws the fabric: spines over leaves over hosts. A link is two strokes, one for
  // each direction; a queue is a mark at the port where the stroke begins.
  function build() {
    const s = have.static, n = s.hosts.length, perLeaf = n / s.leaves, W = 1120, gap = 26;
    const slot = (W - gap * s.leaves) / n, named = slot >= 40;
    const top = 2, leafY = s.spines ? 125 : 2, hostY = leafY + 92;
    const H = hostY + (named ? 42 : 34);
    drawing = { svg: el("fabric"), static: s, load: [], queue: [] };
    drawing.svg.replaceChildren();
    drawing.svg.setAttribute("viewBox", "0 0 " + W + " " + H);
    const leafX = (l) => l * (slot * perLeaf + gap) + gap / 2, leafW = slot * perLeaf;
    const hostX = (h) => leafX(Math.floor(h / perLeaf)) + (h % perLeaf + 0.5) * slot;
    const spineX = (i) => W * (i + 0.5) / s.spines, spineW = Math.min(150, W / Math.max(1, s.spines) - 20);
    const isHost = (i) => i < n, isLeaf = (i) => i >= n && i < n + s.leaves;
    s.ports.forEach((p, i) => {
      let x1, y1, x2, y2, width;
      if (isHost(p.from) || isHost(p.to)) {
        width = Math.max(1.5, Math.min(7, slot * 0.28));
        const up = isHost(p.from), aside = width / 2 + Math.min(1.5, slot * 0.05);
        const x = hostX(up ? p.from : p.to) + (up ? -aside : aside);
        [x1, y1, x2, y2] = up ? [x, hostY, x, leafY + 24] : [x, leafY + 24, x, hostY];
      } else {
        width = 3;
        const up = isLeaf(p.from), l = (up ? p.from : p.to) - n, sp = (up ? p.to : p.from) - n - s.leaves;
        const off = (up ? -1 : 1) * 2.6;
        const lx = leafX(l) + leafW * (sp + 0.5) / s.spines + off;
        const sx = spineX(sp) - spineW / 2 + spineW * (l + 0.5) / s.leaves + off;
        [x1, y1, x2, y2] = up ? [lx, leafY, sx, top + 24] : [sx, top + 24, lx, leafY];
      }
      drawing.load[i] = shape("line", { x1, y1, x2, y2, "stroke-width": width });
      drawing.load[i].append(document.createElementNS(svgNS, "title"));
    });
    s.ports.forEach((p, i) => {
      if (isHost(p.from)) return;
      const line = drawing.load[i], x = +line.getAttribute("x1"), y = +line.getAttribute("y1");
      const down = isHost(p.to) || !isLeaf(p.from), side = isHost(p.to) ? Math.max(4, Math.min(11, slot * 0.7)) : 8;
      drawing.queue[i] = shape("rect", {
        class: "queue", x: x - side / 2, y: down ? y : y - side, width: side, height: side, rx: 1.5,
      });
      drawing.queue[i].append(document.createElementNS(svgNS, "title"));
    });
    for (let i = 0; i < s.spines; i++) {
      shape("rect", { class: "node", x: spineX(i) - spineW / 2, y: top, width: spineW, height: 24, rx: 3 });
      shape("text", { x: spineX(i), y: top + 16 }, "spine" + (i + 1));
    }
    for (let l = 0; l < s.leaves; l++) {
      shape("rect", { class: "node", x: leafX(l), y: leafY, width: leafW, height: 24, rx: 3 });
      shape("text", { x: leafX(l) + leafW / 2, y: leafY + 16 }, "leaf" + (l + 1));
      if (!named) {
        shape("text", { x: leafX(l) + leafW / 2, y: hostY + 28 }, perLeaf > 1 ?
          s.hosts[l * perLeaf] + " to " + s.hosts[(l + 1) * perLeaf - 1] : s.hosts[l]);
      }
    }
    for (let h = 0; h < n; h++) {
      const w = Math.min(46, slot * 0.8);
      shape("rect", { class: "node", x: hostX(h) - w / 2, y: hostY, width: w, height: 12, rx: 2 });
      if (named) shape("text", { x: hostX(h), y: hostY + 28 }, s.hosts[h]);
    }
  }

  const deepestEver = () => have.cols.reduce((m, c) => Math.max(m, ...c.q), 0);

  // depth is the place of a queue on its scale: small ones are seen too.
  const depth = (bytes, most) => most > 0 ? Math.sqrt(bytes / most) : 0;

  function fabric() {
    if (!drawing || drawing.static !== have.static) build();
    const i = column(), c = have.cols[i], most = deepestEver(), s = have.static;
    el("when").textContent = c ? (pointed >= 0 ? "at " : "latest, ") + ms(i * s.width) : "";
    el("queuemax").textContent = most ? kb(most) : "";
    key("loadkey", (x) => ramp("load", x));
    key("queuekey", (x) => ramp("queue", depth(x, 1)));
    s.ports.forEach((p, k) => {
      const known = p.known, load = c && known ? c.l[k] / 1000 : 0, waits = c ? c.q[k] : 0;
      drawing.load[k].setAttribute("stroke", known ? ramp("load", load) : colorOf("--rule"));
      drawing.load[k].firstChild.textContent = p.name + ", " + p.gbps + " Gbps: " +
        (known ? (100 * load).toFixed(0) + " %" : "load not known");
      if (!drawing.queue[k]) return;
      drawing.queue[k].setAttribute("fill", ramp("queue", depth(waits, most)));
      drawing.queue[k].firstChild.textContent = p.name + ": up to " + kb(waits) + " wait";
    });
  }

  function key(id, color) {
    const g = el(id).getContext("2d"), w = el(id).width, h = el(id).height;
    for (let x = 0; x < w; x++) {
      g.fillStyle = color(x / (w - 1));
      g.fillRect(x, 0, 1, h);
    }
  }

  const left = 58, under = 18; // room for labels

  // canvas prepares a canvas of a height for the screen's pixels.
  function canvas(id, height) {
    const e = el(id), ratio = devicePixelRatio || 1, width = e.clientWidth;
    if (e.width !== Math.round(width * ratio) || e.height !== Math.round(height * ratio)) {
      e.style.height = height + "px";
      e.width = Math.round(width * ratio);
      e.height = Math.round(height * ratio);
    }
    const g = e.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    g.font = "11px system-ui, Liberation Sans, Arial, sans-serif";
    return { g, x: left, w: width - left - 10, h: height - under };
  }

  // axis draws the axis of time, the window's borders, and where one points.
  function axis(a) {
    const s = have.static, all = s.count * s.width, X = (t) => a.x + a.w * t / all, g = a.g;
    g.fillStyle = colorOf("--dim");
    g.textAlign = "center";
    g.textBaseline = "top";
    let tick = 10 ** Math.floor(Math.log10(all / 5));
    for (const m of [1, 2, 5, 10]) if (all / (tick * m) <= 8) { tick *= m; break; }
    for (let t = 0; t <= all * 1.0001; t += tick) {
      const text = +(t / 1e6).toPrecision(4) + (t + tick > all * 1.0001 ? " ms" : "");
      g.fillText(text, Math.min(X(t), a.x + a.w - 8), a.h + 4);
      g.fillRect(X(t), a.h, 1, 3);
    }
    g.setLineDash([3, 3]);
    g.strokeStyle = colorOf("--dim");
    for (const t of [s.from, s.to]) {
      if (t > 0 && t < all) stroke(g, [[X(t), 0], [X(t), a.h]]);
    }
    g.setLineDash([]);
    if (pointed >= 0) {
      g.strokeStyle = colorOf("--ink");
      const x = X((pointed + 0.5) * s.width);
      stroke(g, [[x, 0], [x, a.h]]);
    }
  }

  function stroke(g, points) {
    g.beginPath();
    points.forEach(([x, y], i) => i ? g.lineTo(x, y) : g.moveTo(x, y));
    g.stroke();
  }

  function line(id, value) {
    const a = canvas(id, 120), s = have.static, n = Math.min(have.complete, have.cols.length);
    const values = [];
    for (let i = 0; i < n; i++) values.push(have.cols[i] ? value(have.cols[i]) : 0);
    const most = Math.max(1e-9, ...values) * 1.08, Y = (v) => a.h - (a.h - 6) * v / most;
    a.g.textAlign = "right";
    a.g.textBaseline = "middle";
    for (const v of [0, most / 2.16, most / 1.08]) {
      a.g.fillStyle = colorOf("--dim");
      a.g.fillText(digits(v), a.x - 6, Y(v));
      a.g.fillStyle = colorOf("--rule");
      a.g.fillRect(a.x, Y(v), a.w, 1);
    }
    axis(a);
    a.g.strokeStyle = colorOf("--accent");
    a.g.lineWidth = 1.6;
    stroke(a.g, values.map((v, i) => [a.x + a.w * (i + 0.5) / s.count, Y(v)]));
    a.g.lineWidth = 1;
    if (pointed >= 0 && pointed < values.length) {
      a.g.fillStyle = colorOf("--ink");
      const late = pointed > s.count / 2, x = a.x + a.w * (pointed + 0.5) / s.count;
      a.g.textAlign = late ? "right" : "left";
      a.g.fillText(digits(values[pointed]), x + (late ? -5 : 5), 8);
    }
  }

  // heat draws values by host and time, and returns the largest.
  function heat(id, name, value) {
    const s = have.static, n = s.hosts.length, row = Math.max(1.5, Math.min(16, 200 / n));
    const a = canvas(id, row * n + under), cell = a.w / s.count;
    let most = 0;
    for (const c of have.cols) {
      const v = c && value(c);
      if (v) for (const x of v) if (x > most) most = x;
    }
    a.g.fillStyle = colorOf("--empty");
    a.g.fillRect(a.x, 0, a.w, a.h);
    have.cols.forEach((c, i) => {
      const v = c && value(c);
      if (!v) return;
      for (let h = 0; h < n; h++) {
        if (v[h] === null || v[h] === undefined) continue;
        a.g.fillStyle = ramp(name, most ? v[h] / most : 0);
        a.g.fillRect(a.x + i * cell, h * row, cell + 0.6, row - (row > 5 ? 1 : 0));
      }
    });
    a.g.fillStyle = colorOf("--dim");
    a.g.textAlign = "right";
    a.g.textBaseline = "middle";
    const skip = Math.ceil(11 / row);
    for (let h = 0; h < n; h += skip) a.g.fillText(s.hosts[h], a.x - 6, (h + 0.5) * row + (skip > 1 ? 3 : 0));
    axis(a);
    return most;
  }

  function charts() {
    line("total", (c) => c.g.reduce((sum, x) => sum + x, 0));
    line("deepest", (c) => Math.max(0, ...c.q) / 1000);
    el("goodkey").textContent = "0 to " + digits(heat("goodput", "load", (c) => c.g)) + " Gbps";
    const about = have.gauges.find((g) => g.name === gauge), most = heat("values", "value", (c) => c.v);
    el("gaugekey").textContent = about ? "0 to " + digits(most) + (about.unit ? " " + about.unit : "") : "";
  }

  for (const id of ["total", "deepest", "goodput", "values"]) {
    el(id).addEventListener("mousemove", (e) => {
      if (!have.static) return;
      const share = (e.offsetX - left) / (el(id).clientWidth - left - 10);
      const i = Math.floor(share * have.static.count);
      pointed = have.cols[i] ? i : -1;
      draw();
    });
    el(id).addEventListener("mouseleave", () => {
      pointed = -1;
      if (picture) draw();
    });
  }
  el("gauge").addEventListener("change", (e) => choose(e.target.value));
  for (const [on, what] of [[dark, "change"], [window, "resize"]]) on.addEventListener(what, () => picture && draw());
  poll();
})();
