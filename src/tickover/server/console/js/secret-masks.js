// Hides codes, tokens and login links in requests and responses.

const MASK = "••••••";

// What signs somebody in, by operation: shown to nobody who looks over a shoulder.
export const SECRETS = {
  loginByEmailVerification: { param: "code", button: "Copy with the code" },
  loginByEmailLink: { param: "token", button: "Copy with the secret" },
};

export function masked({ request }) {
  const secret = SECRETS[request.method]?.param;
  return secret && request.params?.[secret] ? { ...request, params: { ...request.params, [secret]: MASK } } : request;
}

/** A result without what signs in; the same if there is nothing such in it. */
export function maskedResult(result) {
  const hidden = {
    ...(typeof result?.token === "string" && { token: MASK }),
    ...(typeof result?.loginUrl === "string" && { loginUrl: result.loginUrl.replace(/#.*/s, `#token=${MASK}`) }),
  };
  return Object.keys(hidden).length ? { ...result, ...hidden } : result;
}

export const maskedAnswer = ({ answer }) =>
  answer.error ? answer : { ...answer, result: maskedResult(answer.result) };
