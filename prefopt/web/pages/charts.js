// Small charts as SVG: a curve with its band, a map, bars, a line over answers.
const W = 320, H = 200, LEFT = 38, RIGHT = 10, TOP = 10, BOTTOM = 34;

export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export function short(value) {
  if (typeof value !== "number") return String(value);
  return Number.isInteger(value) && Math.abs(value) < 1e6 ? String(value) : String(Number(value.toPrecision(3)));
}

function frame(label) {
  return svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": label, class: "chart" });
}

function along(axis) {
  const { values, log, categorical } = axis;
  const span = W - LEFT - RIGHT;
  if (categorical || values.length < 2) return (i) => LEFT + (span * (i + 0.5)) / values.length;
  const at = (v) => (log ? Math.log(v) : v);
  const [low, high] = [at(values[0]), at(values.at(-1))];
  return (i) => LEFT + (span * (at(values[i]) - low)) / (high - low || 1);
}

function up(y) {
  return TOP + (H - TOP - BOTTOM) * (1 - Math.min(1, Math.max(0, y)));
}

function axes(picture, axis, x) {
  for (const y of [0, 0.5, 1]) {
    picture.append(svg("line", { x1: LEFT, x2: W - RIGHT, y1: up(y), y2: up(y), class: "grid" }));
    picture.append(svg("text", { x: LEFT - 6, y: up(y) + 4, "text-anchor": "end" }, short(y)));
  }
  const shown = axis.categorical ? axis.values.map((_, i) => i) : [0, Math.floor((axis.values.length - 1) / 2), axis.values.length - 1];
  for (const i of new Set(shown)) {
    const anchor = axis.categorical ? "middle" : i === 0 ? "start" : i === axis.values.length - 1 ? "end" : "middle";
    picture.append(svg("text", { x: x(i), y: H - BOTTOM + 16, "text-anchor": anchor }, short(axis.values[i])));
  }
  picture.append(svg("text", { x: (LEFT + W - RIGHT) / 2, y: H - 3, "text-anchor": "middle", class: "axis-name" }, axis.name));
}

// {name, values, mean, sd, log, categorical}; `at` marks a value.
export function curve(data, at) {
  const x = along(data);
  const known = data.values.map((_, i) => i).filter((i) => data.mean[i] != null);
  const best = known.reduce((a, b) => (a == null || data.mean[b] > data.mean[a] ? b : a), null);
  const label = best == null ? data.name : `${data.name}: highest at ${short(data.values[best])}, ${data.mean[best].toFixed(2)} ± ${data.sd[best].toFixed(2)}`;
  const picture = frame(label);
  axes(picture, data, x);
  if (data.categorical) {
    for (const i of known) {
      picture.append(svg("line", { x1: x(i), x2: x(i), y1: up(data.mean[i] - data.sd[i]), y2: up(data.mean[i] + data.sd[i]), class: "whisker" }));
      picture.append(svg("circle", { cx: x(i), cy: up(data.mean[i]), r: 5, class: data.values[i] === at ? "mark" : "dot" }));
    }
    return picture;
  }
  const edge = (sign) => known.map((i) => `${x(i)},${up(data.mean[i] + sign * data.sd[i])}`);
  picture.append(svg("polygon", { points: [...edge(1), ...edge(-1).reverse()].join(" "), class: "band" }));
  picture.append(svg("polyline", { points: known.map((i) => `${x(i)},${up(data.mean[i])}`).join(" "), class: "curve" }));
  if (typeof at === "number" && known.length) {
    const near = known.reduce((a, b) => (Math.abs(data.values[b] - at) < Math.abs(data.values[a] - at) ? b : a));
    picture.append(svg("circle", { cx: x(near), cy: up(data.mean[near]), r: 5, class: "mark" }));
  }
  return picture;
}

const STOPS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

function colour(share) {
  const at = Math.min(0.9999, Math.max(0, share)) * (STOPS.length - 1);
  const i = Math.floor(at);
  return `rgb(${STOPS[i].map((c, k) => Math.round(c + (STOPS[i + 1][k] - c) * (at - i))).join(",")})`;
}

// {x, y, mean}: mean row by row, y slow.
export function map(data, at) {
  const [xs, ys] = [data.x.values, data.y.values];
  const means = data.mean.filter((m) => m != null);
  const [low, high] = [Math.min(...means), Math.max(...means)];
  const top = data.mean.indexOf(high);
  const place = `${data.x.name} ${short(xs[top % xs.length])}, ${data.y.name} ${short(ys[Math.floor(top / xs.length)])}`;
  const picture = frame(`Map of ${data.x.name} and ${data.y.name}: from ${low.toFixed(2)} to ${high.toFixed(2)}, highest at ${place}`);
  const [w, h] = [(W - LEFT - RIGHT) / xs.length, (H - TOP - BOTTOM) / ys.length];
  data.mean.forEach((mean, k) => {
    const [i, j] = [k % xs.length, Math.floor(k / xs.length)];
    const fill = mean == null ? "none" : colour((mean - low) / (high - low || 1));
    picture.append(svg("rect", { x: LEFT + i * w, y: H - BOTTOM - (j + 1) * h, width: w + 0.4, height: h + 0.4, fill }));
  });
  const near = (values, v) => values.reduce((a, b, i) => (typeof v === "number" ? Math.abs(b - v) < Math.abs(values[a] - v) : b === v) ? i : a, 0);
  picture.append(svg("circle", { cx: LEFT + (near(xs, at[data.x.name]) + 0.5) * w, cy: H - BOTTOM - (near(ys, at[data.y.name]) + 0.5) * h, r: 5, class: "mark" }));
  for (const [i, anchor] of [[0, "start"], [xs.length - 1, "end"]]) {
    picture.append(svg("text", { x: i ? W - RIGHT : LEFT, y: H - BOTTOM + 16, "text-anchor": anchor }, short(xs[i])));
    picture.append(svg("text", { x: LEFT - 4, y: i ? TOP + 10 : H - BOTTOM, "text-anchor": "end" }));
  }
  picture.append(svg("text", { x: LEFT - 4, y: H - BOTTOM, "text-anchor": "end" }, short(ys[0])));
  picture.append(svg("text", { x: LEFT - 4, y: TOP + 10, "text-anchor": "end" }, short(ys.at(-1))));
  picture.append(svg("text", { x: (LEFT + W - RIGHT) / 2, y: H - 3, "text-anchor": "middle", class: "axis-name" }, data.x.name));
  picture.append(svg("text", { x: 10, y: (TOP + H - BOTTOM) / 2, "text-anchor": "middle", class: "axis-name", transform: `rotate(-90 10 ${(TOP + H - BOTTOM) / 2})` }, data.y.name));
  return picture;
}

// Moments {answers, mean, sd, probability_best}: the mean with its band, and the probability as a dashed line.
export function history(moments) {
  const axis = { name: "answers", values: moments.map((m) => m.answers), mean: moments.map((m) => m.mean), sd: moments.map((m) => m.sd) };
  const picture = curve(axis);
  const x = along(axis);
  picture.append(svg("polyline", { points: moments.map((m, i) => `${x(i)},${up(m.probability_best)}`).join(" "), class: "second" }));
  const last = moments.at(-1);
  picture.setAttribute("aria-label", `After ${last.answers} ${last.answers === 1 ? "answer" : "answers"} the recommended option wins ${last.mean.toFixed(2)} ± ${last.sd.toFixed(2)} of comparisons, the best with ${Math.round(100 * last.probability_best)} %`);
  return picture;
}
