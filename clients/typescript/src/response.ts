import { InvalidResponse, Rejection } from "./errors.js";
import type { Reason, ReasonDetails } from "./generated.js";

/** An HTTP response with its body. */
export interface HttpResponse {
  url: string;
  status: number;
  redirectsTo: string | null;
  body: string;
}

/** Returns the result of the call with this id. Throws Rejection or InvalidResponse if there is none. */
export function readResult(response: HttpResponse, id: number): unknown {
  const envelope = readJson(response);
  if (!isObject(envelope) || envelope.jsonrpc !== "2.0") throw notTickover(response);
  const { error } = envelope;
  // The id of an error is null if the server couldn't parse the request.
  if (envelope.id !== id && !(error !== undefined && envelope.id === null)) throw wrongId(response);
  if (error !== undefined) throw rejectionOf(response, error);
  if (envelope.result === undefined) throw notTickover(response);
  return envelope.result;
}

/** Returns the body as JSON. Throws InvalidResponse if it isn't JSON. */
export function readJson(response: HttpResponse): unknown {
  if (response.redirectsTo !== null) {
    throw new InvalidResponse(
      `${response.url} redirects${response.redirectsTo && ` to ${response.redirectsTo}`}. ` +
        "The client doesn't follow redirects. Use the URL that it redirects to.",
    );
  }
  try {
    return JSON.parse(response.body);
  } catch {
    throw notTickover(response);
  }
}

function rejectionOf(response: HttpResponse, error: unknown): Error {
  if (!isObject(error) || typeof error.message !== "string" || !isObject(error.data)) return notTickover(response);
  const { reason, ...details } = error.data;
  return new Rejection(reason as Reason, error.message, details as ReasonDetails[Reason], Number(error.code));
}

function notTickover({ url, status }: HttpResponse): InvalidResponse {
  return new InvalidResponse(
    `${url} returned HTTP status ${status} and no JSON-RPC response. ` +
      "Check that the URL is the address of a Tickover server, without /rpc.",
  );
}

function wrongId({ url }: HttpResponse): InvalidResponse {
  return new InvalidResponse(
    `${url} returned the response to another call. Check for a faulty proxy in front of the server.`,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
