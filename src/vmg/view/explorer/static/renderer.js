// Draws a graph with WebGL2: edges as thin lines, vertices on top of them as discs coloured through a map.

import { Layer } from "./layer.js";
import { program, texture } from "./gl.js";

const MISSING = "The graph is drawn with WebGL2, which this browser does not offer. Turn on its graphics acceleration, or open this page in another browser.";
const MARGIN = 1.25; // pictures are this much larger than the window, so that panning finds something there

const POINTS = `#version 300 es
layout(location = 0) in vec2 place;
layout(location = 1) in float shade;
layout(location = 2) in float mark;
uniform vec4 frame;
uniform float size;
uniform float marked;
uniform sampler2D colours;
out vec4 colour;
flat out float shape;
void main() {
  bool known = shade >= 0.0;
  shape = mark;
  gl_Position = vec4(place * frame.xy + frame.zw, mark > 0.0 ? -0.95 : (known ? -0.9 * shade : 0.5), 1.0);
  colour = known ? texture(colours, vec2(shade * 0.992 + 0.004, 0.25)) : texture(colours, vec2(0.002, 0.75));
  if (mark > 0.0) colour = texture(colours, vec2((mark + 0.5) / 256.0, 0.75));
  gl_PointSize = size * (mark > 0.0 ? marked : (known ? 1.0 : 0.75));
}`;

const DISCS = `#version 300 es
precision mediump float;
in vec4 colour;
flat in float shape;
out vec4 painted;
void main() {
  vec2 at = gl_PointCoord * 2.0 - 1.0;
  float rim = shape == 1.0 ? abs(at.x) + abs(at.y) : length(at);
  if (shape == 3.0) rim = max(length(at), min(abs(at.x - at.y), abs(at.x + at.y)) * 2.4);
  if (shape == 2.0 && rim < 0.45) discard;
  float cover = 1.0 - smoothstep(0.7, 1.0, rim);
  if (cover <= 0.05) discard;
  painted = vec4(colour.rgb * cover, cover);
}`;

const LINES = `#version 300 es
layout(location = 0) in vec2 place;
uniform vec4 frame;
void main() { gl_Position = vec4(place * frame.xy + frame.zw, 0.0, 1.0); }`;

const INK = `#version 300 es
precision mediump float;
uniform vec4 ink;
out vec4 painted;
void main() { painted = ink; }`;

const SHEET = `#version 300 es
uniform vec4 moved;
out vec2 at;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  at = corner;
  gl_Position = vec4((corner * 2.0 - 1.0) * moved.xy + moved.zw, 0.0, 1.0);
}`;

const SHOWN = `#version 300 es
precision mediump float;
uniform sampler2D picture;
in vec2 at;
out vec4 painted;
void main() { painted = texture(picture, at); }`;

export class Renderer {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: false, depth: false });
    if (!gl) throw new Error(MISSING);
    this.gl = gl;
    this.canvas = canvas;
    this.programs = { points: program(gl, POINTS, DISCS), lines: program(gl, LINES, INK), sheet: program(gl, SHEET, SHOWN) };
    this.buffers = { place: gl.createBuffer(), shade: gl.createBuffer(), mark: gl.createBuffer() };
    this.pairs = gl.createBuffer();
    this.array = this.#attributes();
    this.empty = gl.createVertexArray();
    this.colours = texture(gl, gl.NEAREST);
    this.edges = new Layer(gl, (first, count, frame) => this.#paintEdges(first, count, frame));
    this.vertices = new Layer(gl, (first, count, frame) => this.#paintVertices(first, count, frame));
    this.size = 4;
    this.ink = [0.3, 0.3, 0.3];
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthFunc(gl.LEQUAL);
  }

  setPlaces(places) {
    this.#fill("place", places);
    this.edges.change(this.edges.count);
    this.vertices.change(places.length / 2);
  }

  /** Tail and head of every edge, one after the other. */
  setEdges(pairs) {
    const gl = this.gl;
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.pairs);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, pairs, gl.STATIC_DRAW);
    this.edges.change(pairs.length / 2);
  }

  /** A number from 0 to 1 for every vertex, below 0 where there is none; and its mark: 1 goal, 2 reward, 3 forbidden. */
  setShades(shades, marks) {
    this.#fill("shade", shades);
    this.#fill("mark", marks);
    this.marked = marks.reduce((sum, mark) => sum + (mark > 0), 0);
    this.vertices.change(shades.length);
  }

  /** 256 colours for shades, then 256 others: of vertices without a number, of goals, rewards and what is forbidden. */
  setColours(bytes, ink) {
    const gl = this.gl;
    gl.bindTexture(gl.TEXTURE_2D, this.colours);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 2, 0, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    this.ink = ink;
    this.edges.change(this.edges.count);
    this.vertices.change(this.vertices.count);
  }

  /** Say that the canvas was emptied, as it is when its size is set. */
  forget() {
    this.last = null;
  }

  /** Show what the camera sees; returns whether the picture is still to become better. */
  draw(camera, { still, size, now }) {
    const gl = this.gl;
    const frame = camera.frame().map((number) => number / MARGIN);
    const pixels = [Math.round(this.canvas.width * MARGIN), Math.round(this.canvas.height * MARGIN)];
    this.size = size * camera.ratio;
    this.width = camera.width;
    const busy = [this.edges, this.vertices].map((layer) => layer.advance(frame, pixels, still, now)).some(Boolean);
    const picture = [...frame, ...pixels, this.edges.turn, this.vertices.turn].join();
    if (picture === this.last) return busy; // what is on the screen is right: waiting costs nothing
    this.last = picture;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.disable(gl.DEPTH_TEST);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    for (const layer of [this.edges, this.vertices]) this.#show(layer.shown, frame);
    return busy;
  }

  #show(shown, now) {
    if (!shown) return;
    const gl = this.gl;
    const then = shown.frame;
    const [x, y] = [now[0] / then[0], now[1] / then[1]];
    gl.useProgram(this.programs.sheet.handle);
    gl.bindVertexArray(this.empty);
    gl.bindTexture(gl.TEXTURE_2D, shown.picture.texture);
    gl.uniform4f(this.programs.sheet.at("moved"), x * MARGIN, y * MARGIN, (now[2] - then[2] * x) * MARGIN, (now[3] - then[3] * y) * MARGIN);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  #paintEdges(first, count, frame) {
    const gl = this.gl;
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(this.programs.lines.handle);
    gl.bindVertexArray(this.array);
    gl.uniform4f(this.programs.lines.at("frame"), ...frame);
    const strength = Math.min(0.4, Math.max(0.03, (this.width / 50) / Math.sqrt(this.edges.count + 1)));
    gl.uniform4f(this.programs.lines.at("ink"), ...this.ink.map((part) => part * strength), strength);
    gl.drawElements(gl.LINES, count * 2, gl.UNSIGNED_INT, first * 8);
  }

  #paintVertices(first, count, frame) {
    const gl = this.gl;
    gl.enable(gl.DEPTH_TEST);
    gl.useProgram(this.programs.points.handle);
    gl.bindVertexArray(this.array);
    gl.bindTexture(gl.TEXTURE_2D, this.colours);
    gl.uniform4f(this.programs.points.at("frame"), ...frame);
    gl.uniform1f(this.programs.points.at("size"), this.size);
    gl.uniform1f(this.programs.points.at("marked"), this.marked > 60 ? 1.2 : 1.7);
    gl.drawArrays(gl.POINTS, first, count);
  }

  #attributes() {
    const gl = this.gl;
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    Object.values(this.buffers).forEach((buffer, slot) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(slot);
      gl.vertexAttribPointer(slot, slot === 0 ? 2 : 1, gl.FLOAT, false, 0, 0);
    });
    return array;
  }

  #fill(name, numbers) {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.buffers[name]);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, numbers, this.gl.DYNAMIC_DRAW);
  }
}
