// What part of a layout is seen: a centre, and pixels per unit. y points up in the layout and down on the screen.

export class Camera {
  constructor() {
    this.x = this.y = 0;
    this.scale = 1;
    this.home = 1; // the scale at which everything is seen
    this.width = this.height = 1;
    this.ratio = 1;
    this.box = [-1, -1, 1, 1];
  }

  resize(width, height, ratio) {
    const factor = this.width > 1 ? Math.min(width / this.width, height / this.height) : 1;
    Object.assign(this, { width, height, ratio });
    this.#findHome();
    this.scale *= factor;
  }

  /** Show all of a box: left, bottom, right, top. */
  fit(box) {
    this.box = box;
    this.#findHome();
    this.scale = this.home;
    [this.x, this.y] = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
  }

  #findHome() {
    const [left, bottom, right, top] = this.box;
    const room = Math.min(56, this.width * 0.06);
    this.home = Math.min((this.width - 2 * room) / (right - left || 1), (this.height - 2 * room) / (top - bottom || 1));
  }

  /** Look at a place, this many times larger than when everything is seen. */
  set(x, y, zoom) {
    Object.assign(this, { x, y, scale: zoom * this.home });
  }

  get zoom() {
    return this.scale / this.home;
  }

  /** Factors and offsets from the layout to WebGL's square from -1 to 1. */
  frame() {
    const [across, up] = [(2 * this.scale) / this.width, (2 * this.scale) / this.height];
    return [across, up, -this.x * across, -this.y * up];
  }

  toScreen(x, y) {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 - (y - this.y) * this.scale];
  }

  toLayout(left, top) {
    return [this.x + (left - this.width / 2) / this.scale, this.y - (top - this.height / 2) / this.scale];
  }

  pan(right, down) {
    this.x -= right / this.scale;
    this.y += down / this.scale;
  }

  /** Zoom and keep what is under a place of the screen there. */
  zoomAt(left, top, factor) {
    const scale = Math.min(Math.max(this.scale * factor, this.home * 0.4), this.home * 400);
    const [x, y] = this.toLayout(left, top);
    this.x = x - ((x - this.x) * this.scale) / scale;
    this.y = y - ((y - this.y) * this.scale) / scale;
    this.scale = scale;
  }
}
