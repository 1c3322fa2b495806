import { isRecord, parseJson, replaceHidden } from "@resource-broker/base";
import { HEADER, PATH, PROTOCOL_VERSION } from "@resource-broker/contract";

/** A failed call; `status` 0: the broker was not reached. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** Items of a list, and how many match on all pages. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

export interface ApiClient {
  readonly get: <T>(path: string, signal?: AbortSignal) => Promise<T>;
  readonly post: <T>(path: string, body?: unknown, signal?: AbortSignal) => Promise<T>;
  readonly remove: (path: string) => Promise<void>;
}

export type Fetch = (path: string, init: RequestInit) => Promise<Response>;

/** Without it the broker answers as older agents expect. */
export const PROTOCOL = { [HEADER.agentProtocol]: String(PROTOCOL_VERSION) };
/** A custom header: browsers send it to another origin only after a CORS preflight, which the broker refuses. */
const OWN_HEADERS = { ...PROTOCOL, "X-Broker-Dashboard": "1" };

export function createApiClient(fetch: Fetch, onSignedOut: () => void): ApiClient {
  const send = async <T>(path: string, init: RequestInit): Promise<T> => {
    const response = await fetchOrFail(fetch, path, init);
    const text = await response.text();
    if (!response.ok) {
      if (response.status === 401 && path !== PATH.session) onSignedOut();
      throw failureOf(response.status, text);
    }
    const body = readAnswer(text);
    const total = response.headers.get(HEADER.totalCount);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- pages and broker are built and shipped together
    return (total === null ? body : { items: body, total: Number(total) }) as T;
  };
  return {
    get: (path, signal) => send(path, { headers: PROTOCOL, ...signalOf(signal) }),
    post: (path, body, signal) =>
      send(path, {
        method: "POST",
        headers: { ...OWN_HEADERS, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...signalOf(signal),
      }),
    remove: async (path) => {
      await send(path, { method: "DELETE", headers: OWN_HEADERS });
    },
  };
}

function signalOf(signal: AbortSignal | undefined): RequestInit {
  return signal === undefined ? {} : { signal };
}

async function fetchOrFail(fetch: Fetch, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { credentials: "same-origin", cache: "no-store", ...init });
  } catch (error) {
    if (isAborted(error)) throw error;
    throw new ApiError("The broker cannot be reached. The page reconnects automatically.", 0);
  }
}

/** HTML escapes tags, but not what turns the direction of a name or is not seen in it: a mark shows that it was there. */
export function readAnswer(text: string): unknown {
  return parseJson(replaceHidden(text)) ?? null;
}

function failureOf(status: number, text: string): ApiError {
  const body = readAnswer(text);
  const reason = isRecord(body) && typeof body["error"] === "string" ? body["error"] : undefined;
  return new ApiError(reason ?? `The broker answered ${status} without a reason.`, status);
}

export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
