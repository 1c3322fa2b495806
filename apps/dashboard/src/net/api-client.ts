import { replaceHidden } from "@resource-broker/base";
import type { UiError } from "@resource-broker/contract/dashboard";

/** A failed call; `status` 0: the broker was not reached. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(message: string, { status, code }: { readonly status: number; readonly code: string }) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
  }
}

export interface ApiClient {
  readonly get: <T>(path: string, signal?: AbortSignal) => Promise<T>;
  readonly post: <T>(path: string, body?: unknown, signal?: AbortSignal) => Promise<T>;
  readonly remove: (path: string) => Promise<void>;
}

export type Fetch = (path: string, init: RequestInit) => Promise<Response>;

/** A custom header: browsers send it to another origin only after a CORS preflight, which the broker refuses. */
const CSRF_HEADER = { "X-Broker-Dashboard": "1" };

export function createApiClient(fetch: Fetch, onSignedOut: () => void): ApiClient {
  const send = async (path: string, init: RequestInit): Promise<unknown> => {
    const response = await fetchOrFail(fetch, path, init);
    const text = await response.text();
    if (response.ok) return text === "" ? null : parsed(text);
    const failure = failureOf(response.status, text);
    if (response.status === 401 && path !== SESSION_PATH) onSignedOut();
    throw failure;
  };
  return {
    get: async <T>(path: string, signal?: AbortSignal) =>
      answerAs<T>(await send(path, { headers: { Accept: "application/json" }, ...signalOf(signal) })),
    post: async <T>(path: string, body?: unknown, signal?: AbortSignal) =>
      answerAs<T>(
        await send(path, {
          method: "POST",
          headers: { ...CSRF_HEADER, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          ...signalOf(signal),
        }),
      ),
    remove: async (path) => {
      await send(path, { method: "DELETE", headers: CSRF_HEADER });
    },
  };
}

export const SESSION_PATH = "/ui/session";

function signalOf(signal: AbortSignal | undefined): RequestInit {
  return signal === undefined ? {} : { signal };
}

async function fetchOrFail(fetch: Fetch, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { credentials: "same-origin", cache: "no-store", ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError("The broker cannot be reached. The page reconnects automatically.", {
      status: 0,
      code: "unreachable",
    });
  }
}

function answerAs<T>(answer: unknown): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- pages and broker are built and shipped together
  return answer as T;
}

/** HTML escapes tags, but not what turns the direction of a name or is not seen in it: a mark shows that it was there. */
export function readAnswer(text: string): unknown {
  return JSON.parse(replaceHidden(text));
}

function parsed(text: string): unknown {
  try {
    return readAnswer(text);
  } catch {
    return null;
  }
}

function failureOf(status: number, text: string): ApiError {
  const body = parsed(text);
  if (isErrorBody(body)) return new ApiError(body.error, { status, code: body.code });
  return new ApiError(`The broker answered ${status} without a reason.`, { status, code: "unknown" });
}

function isErrorBody(body: unknown): body is UiError {
  return typeof body === "object" && body !== null && "error" in body && typeof body.error === "string";
}

export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
