// Pointer, touch and wheel gestures in the plot.

const WHEEL_SPEED = 0.0015;

/**
 * Drag to preview, pinch or Ctrl+wheel to zoom, and move the wheel sideways to pan. A plain wheel scrolls the page.
 * `toInstant` converts an x coordinate to an instant. `onMove(factor, instant, pixels)` zooms around the instant and pans.
 */
export function listenToGestures(svg, { toInstant, onPreview, onHover, onMove }) {
  const pointers = new Map();
  let pinch = null;
  // The start of a touch. It previews when the finger moves sideways or leaves, because it may also scroll the page.
  let touch = null;

  /** Return the middle and the distance of two fingers. */
  const measure = () => {
    const [first, second] = [...pointers.values()];
    return { middle: (first + second) / 2, distance: Math.max(10, Math.abs(first - second)) };
  };

  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, event.offsetX);
    svg.setPointerCapture(event.pointerId);
    touch = event.pointerType === "touch" && pointers.size === 1 ? { x: event.offsetX, y: event.offsetY } : null;
    if (pointers.size === 2) pinch = measure();
    else if (pointers.size === 1 && !touch) onPreview(toInstant(event.offsetX));
  });

  svg.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) {
      if (event.pointerType === "mouse") onHover(event);
      return;
    }
    pointers.set(event.pointerId, event.offsetX);
    if (touch && Math.abs(event.offsetX - touch.x) <= Math.abs(event.offsetY - touch.y)) return;
    touch = null;
    if (pointers.size === 1 && !pinch) onPreview(toInstant(event.offsetX));
    if (pointers.size !== 2) return;
    const next = measure();
    onMove(pinch.distance / next.distance, toInstant(pinch.middle), pinch.middle - next.middle);
    pinch = next;
  });

  for (const name of ["pointerup", "pointercancel"])
    svg.addEventListener(name, (event) => {
      if (touch && name === "pointerup") onPreview(toInstant(event.offsetX));
      touch = null;
      pointers.delete(event.pointerId);
      // The last finger of a pinch must not move the preview.
      if (pointers.size === 0) pinch = null;
    });

  svg.addEventListener(
    "wheel",
    (event) => {
      const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
      const instant = toInstant(event.offsetX);
      if (event.ctrlKey || event.metaKey) onMove(Math.exp(event.deltaY * WHEEL_SPEED), instant, 0);
      else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) onMove(1, instant, sideways);
      else return;
      event.preventDefault();
    },
    { passive: false },
  );
}
