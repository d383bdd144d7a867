// Texts without a line break in their amounts.

import { h } from "./dom.js";

export const nowrap = (text) => h("span.nowrap", text);

/** Split a text before and after each amount with a sign. Every second part is an amount. */
export const splitAmounts = (text) => text.split(/([−+]\p{Sc}\S+)/u);

/** Keep each sign in a text with its amount. Browsers can break a line before the symbol of a currency. */
export const withAmounts = (text) => splitAmounts(text).map((part, index) => (index % 2 ? nowrap(part) : part));
