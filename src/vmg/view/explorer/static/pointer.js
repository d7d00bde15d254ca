// Mouse, fingers and keys on a pane: panning, zooming, pointing, clicking and painting.

const CLICK = 5; // pixels a press may move and still be a click
const KEYS = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };

/** Listen on a pane; `hands` has tool(), hover, leave, click, strokeBegin, stroke, strokeEnd, moved and keyboard. */
export function listen(element, camera, hands) {
  const down = new Map();
  let pressed = null;

  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    element.focus({ preventScroll: true });
    down.set(event.pointerId, at(element, event));
    const paints = hands.tool() !== "move" && event.button === 0 && down.size === 1;
    if (down.size > 1 && pressed?.paints) hands.strokeEnd();
    pressed = { place: at(element, event), moved: false, paints };
    if (paints) hands.strokeBegin(...pressed.place);
  });

  element.addEventListener("pointermove", (event) => {
    const place = at(element, event);
    if (!down.has(event.pointerId)) return hands.hover(...place);
    const last = down.get(event.pointerId);
    down.set(event.pointerId, place);
    if (down.size === 2) return pinch(camera, down, event.pointerId, last, place, hands);
    if (pressed.paints) return hands.stroke(...place);
    if (!pressed.moved && distance(place, pressed.place) < CLICK) return undefined;
    pressed.moved = true;
    camera.pan(place[0] - last[0], place[1] - last[1]);
    return hands.moved();
  });

  const up = (event) => {
    if (!down.delete(event.pointerId)) return;
    if (pressed?.paints && down.size === 0) hands.strokeEnd();
    else if (pressed && !pressed.moved && down.size === 0 && event.type === "pointerup") hands.click(...pressed.place, event);
    if (down.size) pressed = { place: [...down.values()][0], moved: true, paints: false };
  };
  element.addEventListener("pointerup", up);
  element.addEventListener("pointercancel", up);
  element.addEventListener("pointerleave", () => hands.leave());
  element.addEventListener("contextmenu", (event) => event.preventDefault());

  element.addEventListener("wheel", (event) => {
    if (hands.zooms && !hands.zooms()) return; // the page around it scrolls on
    event.preventDefault();
    camera.zoomAt(...at(element, event), Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)));
    hands.moved();
  }, { passive: false });

  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = [camera.width / 2, camera.height / 2];
    if (KEYS[event.key]) camera.pan(...KEYS[event.key]);
    else if (event.key === "+" || event.key === "=") camera.zoomAt(...middle, 1.3);
    else if (event.key === "-") camera.zoomAt(...middle, 1 / 1.3);
    else if (event.key === "0") camera.fit(camera.box);
    else if (event.key === "Enter") return hands.enter(...middle, event);
    else return undefined;
    event.preventDefault();
    hands.keyboard();
    return hands.moved();
  });
}

function pinch(camera, down, id, last, place, hands) {
  const other = [...down.entries()].find(([key]) => key !== id)[1];
  const factor = distance(place, other) / Math.max(1, distance(last, other));
  camera.pan((place[0] - last[0]) / 2, (place[1] - last[1]) / 2);
  camera.zoomAt((place[0] + other[0]) / 2, (place[1] + other[1]) / 2, factor);
  hands.moved();
}

function at(element, event) {
  const box = element.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function distance(a, b) {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}
