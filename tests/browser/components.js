// Shows every component of the console in each of its states. A test evaluates this function in the console.
async () => {
  const importModule = (name) => import(new URL(name, document.scripts[0].src));
  const { buttonRow } = await importModule("pages/clock-dialogs.js");
  const { callList } = await importModule("pages/call-list.js");
  const { cancelButton, stateMark } = await importModule("chart/row-states.js");
  const { codeBlock } = await importModule("lib/code-block.js");
  const { faultList } = await importModule("clock/create-clock.js");
  const { field, textInput, timeInput } = await importModule("lib/form-fields.js");
  const { Figure } = await importModule("pages/clock-figures.js");
  const { h, Notice, notify, render, withAmounts } = await importModule("lib/dom.js");
  const { icon } = await importModule("lib/icons.js");
  const { menuButton } = await importModule("lib/menu.js");
  const { segmentedButtons, tabList } = await importModule("lib/tabs.js");
  const { stateBadge } = await importModule("pages/expectations-panel.js");

  const stack = (node) => Object.assign(node.style, { display: "grid", gap: "1rem" }) && node;
  const section = (title, ...content) =>
    stack(h("section", { class: "card", "aria-label": title }, h("h2", {}, title), content));
  const row = (...content) => h("div", { class: "row" }, content);

  // The test forces the states that only a pointer or the keyboard causes.
  const STATES = {
    normal: {},
    hover: { "data-force": "hover" },
    focus: { "data-force": "focus-visible" },
    disabled: { disabled: true },
    busy: { disabled: true, "aria-busy": "true" },
  };
  const button = (kind, [state, attributes]) =>
    h(
      "button",
      {
        type: "button",
        class: kind,
        "data-kind": kind,
        "data-state-name": state,
        "aria-label": kind === "icon-button" ? `Icon, ${state}` : undefined,
        ...attributes,
      },
      kind === "icon-button" ? icon("more") : [kind || "default", h("kbd", { "aria-hidden": "true" }, "K")],
    );
  const buttons = ["", "primary", "soft", "plain", "quiet", "danger", "link", "icon-button"].map((kind) =>
    row(Object.entries(STATES).map((state) => button(kind, state))),
  );

  const invalid = field("name", "Invalid", textInput("x"));
  invalid.setFault("Use 1 to 120 characters.");
  const fields = h("div", { class: "item-fields" }, [
    field("type", "Selection", h("select", {}, h("option", {}, "Expense"))),
    field("category", "Placeholder", textInput("", { placeholder: "optional" })),
    field("at", "Time (UTC)", timeInput("2027-01-31T09:00:00Z")),
    field("amount", "Disabled", textInput("12.50", { disabled: true })),
    invalid,
  ]);
  const choice = (type, checked) =>
    h("label", { class: "row" }, h("input", { type, checked, name: `${type} ${checked}` }), `${type}, ${checked}`);

  const menu = menuButton({ label: "Menu", content: icon("down"), className: "primary" }, [
    { text: "Advance 1 day", hint: "⇧D", getTarget: () => "2 Jan 2027", onSelect() {} },
    { text: "Compare…", isNarrow: true, onSelect() {} },
    null,
    { text: "Delete…", danger: true, onSelect() {} },
  ]);
  const segments = segmentedButtons("Zoom", [{ text: "1M" }, { text: "3M" }, { text: "All" }], () => {});
  segments.press(2);
  const joined = h("div", { class: "joined" }, ["Day", "Week"].map((text) => h("button", { type: "button" }, text)));
  const tabs = tabList("Formats", [{ title: "curl", build: () => "Panel" }, { title: "JSON", build: () => "" }]);

  const figure = (label, className, ...shown) => {
    const created = new Figure(label, className);
    created.show(...shown);
    return created.element;
  };
  const figures = h("dl", { class: "figures" }, [
    figure("Simulated date", "headline", "31 Jan 2027", "09:00 UTC"),
    figure("Balance", "headline", "−€735.25", "broken", { broken: true }),
    figure("Lowest ahead", "", "€1,000,000,000.00", "long"),
  ]);
  const item = { name: "Rent", kind: "expense", amount: 1150, currency: "EUR", at: Date.UTC(2027, 0, 3) };
  const stateRow = (kind, state) => {
    const [mark, text] = stateMark(kind);
    text.textContent = state;
    return h(
      "tr",
      { "data-state": state },
      h("th", { scope: "row" }, mark, kind),
      h("td", {}, text, cancelButton({ ...item, name: `${kind} ${state}` })),
      h("td", { class: "number below-zero" }, "−€1,150.00"),
    );
  };
  const states = ["posted", "new", "next", "pending", "later"];
  const table = h(
    "table",
    { class: "data" },
    h("thead", {}, h("tr", {}, ["Item", "State", "Balance"].map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, ["income", "expense", "goal", "opening"].flatMap((kind) => states.map((state) => stateRow(kind, state)))),
  );

  const notice = new Notice();
  notice.show("This clock has expired.", h("a", { class: "button", href: "#/clocks" }, "Back to your clocks"));
  const call = { method: "getTestClock", at: 0, milliseconds: 5.6, response: { result: {} } };
  const failed = { ...call, milliseconds: 40, response: { error: { data: { reason: "CLOCK_EXPIRED" } } } };
  const code = '// A comment\nconst amount = -12.5;\nawait call({"name": "Rent"});';
  const dialog = h(
    "dialog",
    { class: "card", open: true, "aria-label": "Dialog" },
    h("form", {}, h("h2", {}, "Delete “Rent”?"), h("p", {}, "It can't be restored."), [
      h("dl", { class: "facts" }, h("dt", {}, "Amount"), h("dd", {}, "−€1,150.00")),
      h("fieldset", {}, h("legend", {}, "What"), choice("radio", true), choice("radio", false)),
      buttonRow(h("button", { type: "button" }, "Cancel"), h("button", { type: "button", class: "danger" }, "Delete")),
    ]),
  );
  dialog.style.position = "static";
  stack(document.getElementById("main"));

  render(
    document.getElementById("main"),
    h("h1", {}, "Components"),
    section("Buttons", buttons, h("a", { class: "button", href: "#/clocks" }, "Link as a button")),
    section("Fields", fields, row(choice("checkbox", true), choice("checkbox", false)), h("textarea", { "aria-label": "Text" })),
    section("Choices", tabs, row(segments.element, joined, menu)),
    section("Figures", figures),
    section("Items", table),
    section("Expectations", ["held", "will hold", "will break", "broken", ""].map((state) => row(stateBadge(state), state || "not checked"))),
    section(
      "Texts",
      h("p", {}, withAmounts("An amount of −€5.00")),
      h("p", {}, "Ink, ", h("a", { href: "#/clocks" }, "link"), ", ", h("span", { class: "muted" }, "muted"), ", ", h("code", {}, "code")),
      h("p", { class: "hint" }, "Hint"),
      h("p", { class: "error" }, "Error"),
      h("p", { class: "mono" }, "Mono"),
      h("p", {}, h("span", { class: "chip" }, "chip"), " ", h("span", { class: "chip error" }, "REASON")),
      h("span", { class: "visually-hidden" }, "For screen readers"),
      faultList([{ path: "transactions[0].at", message: "is required" }]),
    ),
    section("Messages", notice.element),
    section("Code", codeBlock("Code", code), callList("Requests", [call, failed], { selected: call, textOf: ({ method }) => method, onSelect() {} })),
    dialog,
  );
  menu.querySelector(".menu").hidden = false;
  menu.querySelector("[aria-expanded]").setAttribute("aria-expanded", "true");
  notify("Can't reach the server. Is it running?", { error: true });
};
