// Hides codes, tokens and login links in requests and responses.

const MASK = "••••••";

// Parameters that sign a user in.
export const SECRETS = {
  loginByEmailVerification: { param: "code", button: "Copy with code" },
  loginByEmailLink: { param: "token", button: "Copy with token" },
};

export function maskRequest({ request }) {
  const name = SECRETS[request.method]?.param;
  return name && request.params?.[name] ? { ...request, params: { ...request.params, [name]: MASK } } : request;
}

/** Hide the token and the login link in a result. Return the same object if it has neither. */
export function maskResult(result) {
  const masked = {
    ...(typeof result?.token === "string" && { token: MASK }),
    ...(typeof result?.loginUrl === "string" && { loginUrl: result.loginUrl.replace(/#.*/s, `#token=${MASK}`) }),
  };
  return Object.keys(masked).length ? { ...result, ...masked } : result;
}

export const maskResponse = ({ response }) =>
  response.error ? response : { ...response, result: maskResult(response.result) };
