// Moves the focus in menus and tabs by keys.

/** Return the position to which a key moves the focus in a list of some length, or undefined. */
export function nextPosition(key, [previous, next], current, length) {
  if (key === previous) return (current + length - 1) % length;
  if (key === next) return (current + 1) % length;
  return { Home: 0, End: length - 1 }[key];
}
