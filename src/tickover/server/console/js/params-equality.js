// Compares parameters of createTestClock.

export const MOST = { transactions: 100, goals: 25, contributions: 100 };
const membersOf = (value) =>
  Object.keys(value).filter((name) => !(name in MOST && Array.isArray(value[name]) && !value[name].length));
const WHOLE_SECOND = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.0+)?(Z|[+-]\d\d:\d\d)$/;

/** Whether two parameters say the same: a moment may be written in more than one way, and no list is an empty one. */
export function saysSame(one, other) {
  if (one === other) return true;
  if (typeof one === "string" && typeof other === "string")
    return [one, other].every((text) => WHOLE_SECOND.test(text)) && Date.parse(one) === Date.parse(other);
  if (
    !one ||
    !other ||
    typeof one !== "object" ||
    typeof other !== "object" ||
    Array.isArray(one) !== Array.isArray(other)
  )
    return false;
  const names = membersOf(one);
  return (
    names.length === membersOf(other).length &&
    names.every((name) => Object.hasOwn(other, name) && saysSame(one[name], other[name]))
  );
}
