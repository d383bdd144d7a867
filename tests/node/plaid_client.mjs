// Reads a clock with Plaid's library for Node.js. Arguments: the server's URL and a public token, and a secret. Prints JSON.
import { Configuration, PlaidApi } from "plaid";

const [url, publicToken, secret] = process.argv.slice(2);
const headers = { "PLAID-CLIENT-ID": "any", "PLAID-SECRET": secret };
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
const { institutions } = (await client.institutionsGet({ count: 1, offset: 0, country_codes: ["US"] })).data;
const item = { institution_id: institutions[0].institution_id, initial_products: ["auth"] };
const { public_token } = (await client.sandboxPublicTokenCreate(item)).data;
const second = (await client.itemPublicTokenExchange({ public_token })).data.access_token;
const ibans = (await client.authGet({ access_token: second })).data.numbers.international.length;
const settings = { client_name: "App", language: "en", country_codes: ["US"], user: { client_user_id: "1" } };
const { link_token } = (await client.linkTokenCreate({ ...settings, products: ["auth"] })).data;
const link = (await client.linkTokenGet({ link_token })).data.metadata.client_name;
const balances = accounts.map((each) => [each.name, each.balances.current]);
console.log(JSON.stringify({ added, balances, institution: institution.name, error, ibans, link }));
