// The forms, the filter of the contents and the colours of code at /docs, and the user in its header.

import { copyText } from "./lib/clipboard.js";
import { highlight } from "./lib/code-block.js";
import { h } from "./lib/dom.js";
import { signOut } from "./lib/rpc.js";
import { currentSession, onSessionChange } from "./lib/session.js";
import { tryIt } from "./pages/try-it.js";

const accountLink = document.querySelector(".account");
const signOutControl = document.querySelector(".sign-out");

function showUser() {
  const session = currentSession();
  const [addressNode, avatarNode] = accountLink.children;
  addressNode.textContent = session ? session.email || session.userId : "Account";
  avatarNode.textContent = addressNode.textContent.slice(0, 2).toUpperCase();
  if (!session && document.activeElement === signOutControl) accountLink.focus();
  avatarNode.hidden = signOutControl.hidden = !session;
}

onSessionChange(showUser);
signOutControl.addEventListener("click", () => signOut());
showUser();

const filterInput = document.getElementById("contents-filter");
const filterStatus = filterInput.nextElementSibling;
const contentsEntries = [...document.querySelectorAll(".contents li")].map((entry) => {
  const section = document.getElementById(entry.firstChild.hash.slice(1)).closest("section");
  const titles = section.querySelectorAll("h2, .lead, .overview a");
  return { entry, text: [...titles].map(({ textContent }) => textContent.toLowerCase()).join("\n") };
});

filterInput.addEventListener("input", () => {
  const searched = filterInput.value.trim().toLowerCase();
  for (const { entry, text } of contentsEntries) entry.hidden = !text.includes(searched);
  for (const group of document.querySelectorAll(".contents .group"))
    group.hidden = !group.querySelector("li:not([hidden])");
  filterStatus.textContent = contentsEntries.every(({ entry }) => entry.hidden) ? "Nothing matches." : "";
});
filterInput.addEventListener("keydown", ({ key }) => {
  if (key === "Enter") contentsEntries.find(({ entry }) => !entry.hidden)?.entry.firstChild.click();
});
filterInput.parentElement.hidden = false;

// The section at the top of the window is the current one.
const observer = new IntersectionObserver(
  (changes) => {
    for (const { target, isIntersecting } of changes) {
      const link = document.querySelector(`.contents a[href="#${target.getAttribute("aria-labelledby")}"]`);
      link.toggleAttribute("aria-current", isIntersecting);
      if (isIntersecting) link.scrollIntoView({ block: "nearest" });
    }
  },
  { rootMargin: "-20% 0px -80%" },
);
document.querySelectorAll("main section").forEach((section) => observer.observe(section));

for (const block of document.querySelectorAll("pre")) block.replaceChildren(...highlight(block.textContent));

for (const sample of document.querySelectorAll(".sample")) {
  const { textContent } = sample.querySelector("pre");
  sample.firstElementChild.append(h("button.quiet", { onclick: () => copyText(textContent, "the code") }, "Copy"));
}

for (const section of document.querySelectorAll("[data-method]"))
  section.querySelector("h3").before(tryIt(section.dataset.method, JSON.parse(section.dataset.params)));
