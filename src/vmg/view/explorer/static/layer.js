// A layer is painted piece by piece, as much per frame as the machine can bear, into a picture that is shown when it is
// whole. Meanwhile the last picture is shown, moved and scaled to where it belongs: panning never waits for painting.

import { Picture } from "./gl.js";

const FIRST = 40000; // things per piece, until the machine has shown what it can do
const LEAST = 20000;
const QUICK = 30; // milliseconds: a layer that takes no longer is painted anew while the camera moves

export class Layer {
  /** `paint(first, count, frame)` paints some of its things. */
  constructor(gl, paint) {
    this.gl = gl;
    this.paint = paint;
    this.front = new Picture(gl);
    this.back = new Picture(gl);
    this.frame = null; // where the front picture was taken from
    this.version = this.painted = 0;
    this.count = 0;
    this.piece = FIRST;
    this.job = null;
    this.fence = null;
    this.turn = 0; // counts what has become visible
    this.took = 0; // milliseconds that the last whole picture took
  }

  /** Say that its things have changed. */
  change(count) {
    this.count = count;
    this.version += 1;
    this.job = null;
  }

  get shown() {
    return this.frame ? { picture: this.front, frame: this.frame } : this.job && { picture: this.back, frame: this.job.frame };
  }

  /** Whether what was last asked for has been painted to its end. */
  get settled() {
    return !this.job && !this.fence && this.painted === this.version;
  }

  /** Paint a piece if it is time to; returns whether there is more to do. */
  advance(frame, size, still, now) {
    if (this.fence && !this.#finished(now)) return true;
    if (this.job && still && !same(this.job.frame, frame)) this.job = null;
    if (!this.job && !this.#current(frame, size) && (still || this.took < QUICK)) {
      this.job = { frame, size, done: 0, began: now, version: this.version };
      this.back.use(...size);
      this.back.clear();
    }
    if (this.job) this.#paintPiece(now);
    return !this.settled || !this.#current(frame, size);
  }

  #paintPiece(now) {
    const { job, gl } = this;
    this.back.use(...job.size);
    const count = Math.min(this.piece, this.count - job.done);
    if (count > 0) this.paint(job.done, count, job.frame);
    job.done += count;
    if (!this.frame || job.done === this.count) this.turn += 1;
    this.fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    this.issued = { now, count };
    if (job.done < this.count) return;
    [this.front, this.back] = [this.back, this.front];
    this.frame = job.frame;
    this.painted = job.version;
    this.began = job.began;
    this.job = null;
  }

  #finished(now) {
    const gl = this.gl;
    if (gl.getSyncParameter(this.fence, gl.SYNC_STATUS) !== gl.SIGNALED) return false;
    gl.deleteSync(this.fence);
    this.fence = null;
    const took = now - this.issued.now;
    if (!this.job) this.took = now - this.began;
    if (took < 120 && this.issued.count === this.piece) this.piece = Math.min(this.piece * 2, 4e6);
    if (took > 250) this.piece = Math.max(LEAST, Math.round(this.piece / 2));
    return true;
  }

  #current(frame, [width, height]) {
    return this.frame && this.painted === this.version && same(this.frame, frame)
      && this.front.width === width && this.front.height === height;
  }
}

function same(a, b) {
  return a.every((number, i) => number === b[i]);
}
