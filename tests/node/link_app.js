// An app that connects accounts with react-plaid-link. The link token is in the query of the page.
/* global React, ReactDOM, PlaidLink */
const record = (name) => (...args) => window.calls.push([name, ...args]);
window.calls = [];

function App() {
  const { open, exit, ready } = PlaidLink.usePlaidLink({
    token: new URLSearchParams(location.search).get("token"),
    onSuccess: record("success"),
    onExit: record("exit"),
    onEvent: record("event"),
    onLoad: record("load"),
  });
  window.exitLink = exit;
  return React.createElement("button", { onClick: () => open(), disabled: !ready }, "Connect a bank");
}

ReactDOM.createRoot(document.getElementById("root")).render(React.createElement(App));
