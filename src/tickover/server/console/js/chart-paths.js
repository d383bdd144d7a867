// Scales, ticks and paths of the charts.

const canvas = document.createElement("canvas").getContext("2d");
let fontFamily = null;

/** Return the width of a text in the charts, in pixels. */
export function textWidth(text) {
  // Computing the style of the page in each frame is slow, and its font never changes.
  fontFamily ??= getComputedStyle(document.body).fontFamily;
  canvas.font = `600 12px ${fontFamily}`;
  return canvas.measureText(text).width;
}

/** Round to a tenth of a pixel to keep paths short. */
export const pixel = (number) => Math.round(number * 10) / 10;

/** Return a function that converts a time or a value to pixels. */
export function scale(from, to, first, last) {
  const factor = to > from ? (last - first) / (to - from) : 0;
  return (value) => pixel(first + (value - from) * factor);
}

/** Return round numbers between low and high, and their distance. Zero is one of them if it is in the range. */
export function valueTicks(low, high, maxCount) {
  const rough = (high - low) / maxCount;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999) ?? rough;
  const ticks = [];
  for (let index = Math.ceil(low / step - 1e-9); index * step <= high + step * 1e-9; index += 1)
    ticks.push(index * step || 0);
  return { ticks, step };
}

/** Return the path of a step function between two times. `x` and `y` convert times and values to pixels. */
export function stepPath({ times, values }, x, y, from, to) {
  let path = "";
  let height = null;
  for (let index = 0; index <= times.length; index += 1) {
    const at = index === 0 ? from : times[index - 1];
    if (at > to) break;
    if (at <= from) {
      height = y(values[index]);
      continue;
    }
    if (path === "") path = `M${x(from)} ${height}`;
    height = y(values[index]);
    path += `H${x(at)}V${height}`;
  }
  return `${path || `M${x(from)} ${height}`}H${x(to)}`;
}

/** Close a step path to an area above or below a horizontal line. */
export const areaPath = (line, x, y, from) => `${line}V${y}H${x(from)}Z`;
