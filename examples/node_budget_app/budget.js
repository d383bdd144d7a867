// A budget app: reads a bank through Plaid, and says what is left of this month's budget.
import { Configuration, PlaidApi } from "plaid";

const HEADERS = { "PLAID-CLIENT-ID": "budget", "PLAID-SECRET": "secret" };
const PAGE = 100;
const MUTATION = "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION";

export class Budget {
  /** By the ID that the bank gave them. */
  payments = new Map();
  #bank;
  #accessToken;
  #cursor = "";

  constructor(bankUrl) {
    this.#bank = new PlaidApi(new Configuration({ basePath: bankUrl, baseOptions: { headers: HEADERS } }));
  }

  /** Connects a bank with the token of Plaid Link. */
  async connect(publicToken) {
    const { data } = await this.#bank.itemPublicTokenExchange({ public_token: publicToken });
    this.#accessToken = data.access_token;
  }

  /** Stores what has changed at the bank. */
  async sync() {
    const pages = await this.#changes(this.#cursor);
    for (const { added, modified, removed } of pages) {
      for (const { transaction_id: id, date, name, amount } of [...added, ...modified]) {
        // For Plaid, a positive amount is money that goes out.
        this.payments.set(id, { id, date, name, cents: -Math.round(amount * 100) });
      }
      for (const { transaction_id: id } of removed) this.payments.delete(id);
    }
    this.#cursor = pages.at(-1).next_cursor;
  }

  async #changes(start) {
    const pages = [];
    let cursor = start;
    do {
      const request = { access_token: this.#accessToken, cursor, count: PAGE };
      try {
        pages.push((await this.#bank.transactionsSync(request)).data);
      } catch (error) {
        if (error.response?.data.error_code !== MUTATION) throw error;
        // Something has changed between two pages. Begin again.
        return this.#changes(start);
      }
      cursor = pages.at(-1).next_cursor;
    } while (pages.at(-1).has_more);
    return pages;
  }
}
