// The page: shows what is left of this month's budget. It runs in the browser.
import { leftThisMonth } from "./rule.js";

const MONTHLY_CENTS = 100_000;

async function show() {
  const payments = await (await fetch("/payments.json")).json();
  const left = (leftThisMonth(payments, MONTHLY_CENTS) / 100).toFixed(2);
  document.getElementById("left").textContent = `You can spend ${left} EUR until the end of the month.`;
}

document.getElementById("refresh").addEventListener("click", show);
await show();
