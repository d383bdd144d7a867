// Compares parameters of createTestClock.

export const MAX_ENTRIES = { transactions: 100, goals: 25, contributions: 100 };
// An empty list is the same as no list.
const membersOf = (value) =>
  Object.keys(value).filter((name) => !(name in MAX_ENTRIES && Array.isArray(value[name]) && !value[name].length));
const WHOLE_SECOND = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.0+)?(Z|[+-]\d\d:\d\d)$/;

/** Return whether two values mean the same. An instant has several text forms. */
export function sameParams(left, right) {
  if (left === right) return true;
  if (typeof left === "string" && typeof right === "string")
    return [left, right].every((text) => WHOLE_SECOND.test(text)) && Date.parse(left) === Date.parse(right);
  if (
    !left ||
    !right ||
    typeof left !== "object" ||
    typeof right !== "object" ||
    Array.isArray(left) !== Array.isArray(right)
  )
    return false;
  const names = membersOf(left);
  return (
    names.length === membersOf(right).length &&
    names.every((name) => Object.hasOwn(right, name) && sameParams(left[name], right[name]))
  );
}
