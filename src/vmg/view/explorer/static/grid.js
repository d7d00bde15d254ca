// Finds vertices by place: they are sorted into the cells of a grid once per layout.

export class Grid {
  constructor(places, box) {
    this.places = places;
    const count = places.length / 2;
    this.side = Math.max(1, Math.ceil(Math.sqrt(count / 2)));
    [this.left, this.bottom] = box;
    this.cell = [(box[2] - box[0]) / this.side || 1, (box[3] - box[1]) / this.side || 1];
    this.first = new Uint32Array(this.side * this.side + 1);
    const cells = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      cells[i] = this.#row(places[2 * i + 1]) * this.side + this.#column(places[2 * i]);
      this.first[cells[i] + 1] += 1;
    }
    for (let c = 0; c < this.side * this.side; c++) this.first[c + 1] += this.first[c];
    const next = this.first.slice();
    this.sorted = new Uint32Array(count);
    for (let i = 0; i < count; i++) this.sorted[next[cells[i]]++] = i;
  }

  /** Every vertex within a distance of a place, with the square of its distance. */
  *within(x, y, radius) {
    const [low, high] = [this.#row(y - radius), this.#row(y + radius)];
    const [left, right] = [this.#column(x - radius), this.#column(x + radius)];
    for (let row = low; row <= high; row++) {
      const [first, last] = [this.first[row * this.side + left], this.first[row * this.side + right + 1]];
      for (let k = first; k < last; k++) {
        const i = this.sorted[k];
        const distance = (this.places[2 * i] - x) ** 2 + (this.places[2 * i + 1] - y) ** 2;
        if (distance <= radius * radius) yield [i, distance];
      }
    }
  }

  /** The nearest vertex within a distance of a place; null if there is none. */
  nearest(x, y, radius) {
    let [best, least] = [null, Infinity];
    for (const [i, distance] of this.within(x, y, radius)) if (distance < least) [best, least] = [i, distance];
    return best;
  }

  #column(x) {
    return Math.min(this.side - 1, Math.max(0, Math.floor((x - this.left) / this.cell[0])));
  }

  #row(y) {
    return Math.min(this.side - 1, Math.max(0, Math.floor((y - this.bottom) / this.cell[1])));
  }
}
