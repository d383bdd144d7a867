// Keyboard shortcuts of the whole page.

const FIELDS = "input:not([type=range]), select, textarea, [role=menu]";
const PRESSED_BY_ENTER = "a, button, summary";

/**
 * Call `run(event)` for each key on the page, which returns whether the key is a shortcut. Fields, menus, dialogs, and
 * the keys of the browser and of the focused button are left alone. Return a function that ends this.
 */
export function listenToShortcuts(run) {
  const listener = (event) => {
    const { key, target } = event;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.closest(FIELDS) || document.querySelector("dialog[open]")) return;
    if (key === "Enter" && target.closest(PRESSED_BY_ENTER)) return;
    if (run(event)) event.preventDefault();
  };
  addEventListener("keydown", listener);
  return () => removeEventListener("keydown", listener);
}
