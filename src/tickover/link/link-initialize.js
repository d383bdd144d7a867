/*
 * The script that an app's page loads instead of Plaid's. It defines `Plaid.create`, which shows Link in a frame of the
 * origin that this script came from.
 */
{
  const script = document.currentScript ?? document.querySelector("script[src*='/link-initialize.js']");
  const folder = new URL(".", script.src);
  const NO_DETAILS = {
    account_number_mask: null,
    error_type: null,
    error_code: null,
    error_message: null,
    exit_status: null,
    institution_id: null,
    institution_name: null,
    institution_search_query: null,
    is_update_mode: null,
    match_reason: null,
    mfa_type: null,
    routing_number: null,
    selection: null,
    view_name: null,
  };

  /** Return a random ID. `crypto.randomUUID` would need HTTPS. */
  const newId = () => {
    const numbers = crypto.getRandomValues(new Uint8Array(16));
    return [...numbers].map((number) => number.toString(16).padStart(2, "0")).join("");
  };

  class Link {
    #config;
    #frame = document.createElement("iframe");
    #dialog = document.createElement("dialog");
    #receive = (event) => this.#handle(event);
    #sessionId = newId();
    #isLoaded = false;
    #isOpen = false;
    /* What the frame has said last. */
    #institution = null;
    #requestId = "";
    #status = null;

    constructor(config) {
      if (!config?.token) throw new Error("Plaid.create needs a link token. Create one with /link/token/create.");
      this.#config = config;
      const frame = this.#frame;
      frame.title = "Connect your accounts";
      frame.referrerPolicy = "no-referrer";
      Object.assign(frame.style, { display: "block", width: "100%", height: "100%", border: "0" });
      // The fragment isn't sent to any server.
      const given = new URLSearchParams({ token: config.token, origin: location.origin });
      frame.src = `${new URL("link.html", folder)}#${given}`;
      const dialog = this.#dialog;
      dialog.ariaLabel = frame.title;
      Object.assign(dialog.style, {
        boxSizing: "border-box",
        width: "min(26rem, 100vw)",
        // All of a phone.
        height: "max(min(40rem, 100dvh), min(100dvh, (26.5rem - 100vw) * 1000))",
        maxWidth: "none",
        maxHeight: "none",
        padding: "0",
        border: "0",
        borderRadius: "min(0.875rem, (100vw - 26rem) * 1000)",
        overflow: "hidden",
        boxShadow: "0 0 0 100vmax rgb(0 0 0 / 45%)",
      });
      dialog.addEventListener("cancel", (event) => {
        event.preventDefault();
        this.exit();
      });
      dialog.append(frame);
      addEventListener("message", this.#receive);
      (document.body ?? document.documentElement).append(dialog);
    }

    open() {
      if (this.#isOpen || !this.#dialog.isConnected) return;
      this.#isOpen = true;
      this.#institution = this.#status = null;
      this.#dialog.showModal();
      this.#frame.focus();
      if (this.#isLoaded) this.#start();
    }

    exit() {
      if (this.#isOpen) this.#close({ error: null });
    }

    /** Only Plaid's product Layer has something to submit. */
    submit() {}

    destroy() {
      this.#isOpen = false;
      removeEventListener("message", this.#receive);
      this.#dialog.remove();
    }

    #start() {
      this.#frame.contentWindow.postMessage({ type: "open" }, folder.origin);
      this.#report("OPEN", { view_name: "SELECT_INSTITUTION" });
    }

    #handle({ source, origin, data }) {
      if (source !== this.#frame.contentWindow || origin !== folder.origin) return;
      if (data.type === "loaded") {
        this.#isLoaded = true;
        this.#config.onLoad?.();
        if (this.#isOpen) this.#start();
      }
      if (!this.#isOpen) return;
      this.#requestId = data.request_id ?? this.#requestId;
      if (data.type === "select") {
        this.#institution = data.institution;
        this.#status = "requires_account_selection";
        this.#report("SELECT_INSTITUTION", { view_name: "SELECT_ACCOUNT" });
      } else if (data.type === "success") {
        this.#succeed(data);
      } else if (data.type === "exit") {
        this.#close(data);
      }
    }

    #succeed({ public_token, institution, accounts }) {
      this.#hide();
      this.#institution = institution;
      this.#report("HANDOFF", {});
      const metadata = { institution, accounts, link_session_id: this.#sessionId, transfer_status: null };
      // Names of older versions of Plaid's script.
      const [account = null] = accounts;
      this.#config.onSuccess?.(public_token, { ...metadata, public_token, account, account_id: account?.id ?? null });
    }

    #close({ error }) {
      this.#hide();
      const { error_type = null, error_code = null, error_message = null } = error ?? {};
      this.#report("EXIT", { error_type, error_code, error_message, exit_status: this.#status });
      const ids = { link_session_id: this.#sessionId, request_id: this.#requestId };
      this.#config.onExit?.(error, { institution: this.#institution, status: this.#status, ...ids });
    }

    #hide() {
      this.#isOpen = false;
      this.#dialog.close();
    }

    #report(name, details) {
      this.#config.onEvent?.(name, {
        ...NO_DETAILS,
        institution_id: this.#institution?.institution_id ?? null,
        institution_name: this.#institution?.name ?? null,
        timestamp: new Date().toISOString(),
        link_session_id: this.#sessionId,
        request_id: this.#requestId,
        ...details,
      });
    }
  }

  window.Plaid = {
    create(config) {
      const link = new Link(config);
      // Apps and libraries take the functions from the object.
      const [open, exit, submit, destroy] = ["open", "exit", "submit", "destroy"].map((name) => () => link[name]());
      return { open, exit, submit, destroy };
    },
  };
}
