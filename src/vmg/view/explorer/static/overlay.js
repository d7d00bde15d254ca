// What is drawn under and over the graph, on plain canvases: walls below; ways, episodes, marks and the brush above.

import { css, named } from "./colours.js";

/** Paint walls of a floor plan. */
export function drawFloor(context, camera, floor) {
  clear(context, camera);
  if (!floor) return;
  const [[left, right], [low, high]] = floor.extent;
  context.save();
  context.beginPath();
  context.roundRect(...camera.toScreen(left, high), (right - left) * camera.scale, (high - low) * camera.scale, 10);
  context.clip();
  context.fillStyle = css(named("wall"));
  for (const [x, y, size] of floor.walls) {
    const [from, bottom] = camera.toScreen(x, y);
    const side = size * camera.scale;
    context.fillRect(from - 0.3, bottom - side - 0.3, side + 0.6, side + 0.6);
  }
  context.restore();
}

/** Paint everything above the graph. `shown` has lists of vertices and places; `at` gives the place of a vertex. */
export function drawOverlay(context, camera, shown, at) {
  clear(context, camera);
  const look = Object.fromEntries(["paper", "ink", "accent", "trail", "goal"].map((name) => [name, css(named(name))]));
  const screen = ([x, y]) => camera.toScreen(x, y);
  const line = (vertices) => vertices.map((v) => screen(at(v)));
  for (const vertex of shown.found) ring(context, screen(at(vertex)), 6, look.ink, 1.5);
  if (shown.neighbours) neighbours(context, screen, at, shown.neighbours, look);
  if (shown.planned.length > 1) stroke(context, line(shown.planned), { colour: look.ink, width: 2, dash: [2, 5], casing: look.paper });
  if (shown.way.length > 1) way(context, line(shown.way), look);
  for (const vertex of shown.switches) disc(context, screen(at(vertex)), 4, look.paper, look.accent);
  if (shown.trail.length > 1) stroke(context, shown.trail.map(screen), { colour: look.trail, width: 2.5, casing: look.paper });
  if (shown.goal) star(context, screen(shown.goal), 10, look.goal, look.paper);
  for (const [vertex, word] of shown.pins) pin(context, screen(at(vertex)), word, look);
  if (shown.subgoal !== null) ring(context, screen(at(shown.subgoal)), 8, look.accent, 2.5);
  if (shown.spot) disc(context, screen(shown.spot), 7, look.trail, look.paper);
  if (shown.hovered !== null) ring(context, screen(at(shown.hovered)), 8, look.ink, 1.5);
  if (shown.selected !== null) selected(context, screen(at(shown.selected)), look);
  if (shown.brush) brush(context, shown.brush, css(named(shown.brush.tool === "erase" ? "ink" : shown.brush.tool)));
  if (shown.crosshair) cross(context, [camera.width / 2, camera.height / 2], look.ink);
}

function clear(context, camera) {
  context.setTransform(camera.ratio, 0, 0, camera.ratio, 0, 0);
  context.clearRect(0, 0, camera.width, camera.height);
}

function stroke(context, points, { colour, width, dash = [], casing = null }) {
  const path = new Path2D();
  points.forEach(([x, y], i) => (i ? path.lineTo(x, y) : path.moveTo(x, y)));
  context.lineJoin = context.lineCap = "round";
  context.setLineDash([]);
  if (casing) {
    context.strokeStyle = casing;
    context.globalAlpha = 0.75;
    context.lineWidth = width + 3;
    context.stroke(path);
    context.globalAlpha = 1;
  }
  context.setLineDash(dash);
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke(path);
  context.setLineDash([]);
}

function way(context, points, look) {
  stroke(context, points, { colour: look.accent, width: 4, casing: look.paper });
  let walked = 0;
  for (let i = 1; i < points.length; i++) {
    walked += Math.hypot(points[i][0] - points[i - 1][0], points[i][1] - points[i - 1][1]);
    if (walked < 70) continue;
    walked = 0;
    arrow(context, points[i - 1], points[i], look.accent, look.paper);
  }
}

function neighbours(context, screen, at, { vertex, into, out }, look) {
  const here = screen(at(vertex));
  for (const other of into) stroke(context, [screen(at(other)), here], { colour: look.ink, width: 1.2, dash: [3, 3] });
  for (const other of out) {
    const there = screen(at(other));
    stroke(context, [here, there], { colour: look.accent, width: 1.8 });
    if (Math.hypot(there[0] - here[0], there[1] - here[1]) > 14) arrow(context, here, there, look.accent, look.paper);
  }
}

function arrow(context, [x0, y0], [x1, y1], colour, rim) {
  const turn = Math.atan2(y1 - y0, x1 - x0);
  context.save();
  context.translate(x1, y1);
  context.rotate(turn);
  context.beginPath();
  context.moveTo(5, 0);
  context.lineTo(-5, -5);
  context.lineTo(-2.5, 0);
  context.lineTo(-5, 5);
  context.closePath();
  context.fillStyle = colour;
  context.strokeStyle = rim;
  context.lineWidth = 1.5;
  context.stroke();
  context.fill();
  context.restore();
}

function ring(context, [x, y], radius, colour, width) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
}

function disc(context, place, radius, colour, rim) {
  context.beginPath();
  context.arc(...place, radius, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.fill();
  ring(context, place, radius, rim, 2);
}

function selected(context, place, look) {
  ring(context, place, 9, look.paper, 5);
  ring(context, place, 9, look.accent, 3);
}

function star(context, [x, y], radius, colour, rim) {
  context.beginPath();
  for (let i = 0; i < 10; i++) {
    const [turn, far] = [(Math.PI * i) / 5 - Math.PI / 2, i % 2 ? radius * 0.45 : radius];
    context.lineTo(x + far * Math.cos(turn), y + far * Math.sin(turn));
  }
  context.closePath();
  context.lineWidth = 3;
  context.strokeStyle = rim;
  context.stroke();
  context.fillStyle = colour;
  context.fill();
}

function pin(context, [x, y], word, look) {
  context.font = "600 12px system-ui, sans-serif";
  const width = context.measureText(word).width + 14;
  disc(context, [x, y], 5, look.accent, look.paper);
  context.beginPath();
  context.roundRect(x - width / 2, y - 31, width, 20, 10);
  context.fillStyle = look.accent;
  context.fill();
  context.fillStyle = look.paper;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(word, x, y - 20.5);
}

function brush(context, { x, y, radius }, colour) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.globalAlpha = 0.14;
  context.fillStyle = colour;
  context.fill();
  context.globalAlpha = 1;
  ring(context, [x, y], radius, colour, 2);
}

function cross(context, [x, y], colour) {
  stroke(context, [[x - 9, y], [x + 9, y]], { colour, width: 1.5 });
  stroke(context, [[x, y - 9], [x, y + 9]], { colour, width: 1.5 });
}
