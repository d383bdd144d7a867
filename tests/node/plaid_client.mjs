// Reads a clock with Plaid's library for Node.js. Arguments: the server's URL and a public token. Prints JSON.
import { Configuration, PlaidApi } from "plaid";

const [url, publicToken] = process.argv.slice(2);
const headers = { "PLAID-CLIENT-ID": "any", "PLAID-SECRET": "any" };
const client = new PlaidApi(new Configuration({ basePath: `${url}/plaid`, baseOptions: { headers } }));

const exchanged = await client.itemPublicTokenExchange({ public_token: publicToken });
const access_token = exchanged.data.access_token;
const added = [];
let cursor;
for (let hasMore = true; hasMore; ) {
  const page = (await client.transactionsSync({ access_token, cursor, count: 2 })).data;
  added.push(...page.added.map((each) => [each.name, each.amount, each.pending]));
  cursor = page.next_cursor;
  hasMore = page.has_more;
}
const accounts = (await client.accountsGet({ access_token })).data.accounts;
const { institution_id } = (await client.itemGet({ access_token })).data.item;
const institution = (await client.institutionsGetById({ institution_id, country_codes: ["US"] })).data.institution;
let error;
try {
  await client.transactionsSync({ access_token, cursor: "forged" });
} catch (failure) {
  error = failure.response.data.error_code;
}
await client.itemRemove({ access_token });
const balances = accounts.map((each) => [each.name, each.balances.current]);
console.log(JSON.stringify({ added, balances, institution: institution.name, error }));
