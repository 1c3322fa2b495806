import { type Agent, type ClientRequest, type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { type Clock, Fault } from "@resource-broker/base";

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With its query, below the server's address. */
  readonly path: string;
  readonly accept: string;
  readonly content?: { readonly type: string; readonly body: string };
  readonly signal?: AbortSignal | undefined;
  /** True: the request is idempotent, or a second one is refused. */
  readonly isRepeatable: boolean;
  /** How long the whole call may take; for a stream, how long until it begins. */
  readonly timeoutMs: number;
}

export interface Exchange {
  readonly response: IncomingMessage;
  /** The reason when the client aborted it. */
  readonly abortedBy: () => Error | undefined;
}

export interface ExchangeOptions {
  readonly endpoint: Endpoint;
  readonly agent: Agent;
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly isStream: boolean;
}

/** A kept-alive connection was closed by the server: most likely the request was not read. */
export class StaleConnection extends Error {
  override readonly name = "StaleConnection";
  readonly code = "ECONNRESET";
}

/** Sends a request once; resolves with the response headers. */
export function exchange(call: HttpRequest, options: ExchangeOptions): Promise<Exchange> {
  const { signal, content } = call;
  if (signal?.aborted === true) return Promise.reject(abortReason(signal));
  const request = open(call, options);
  let aborted: Error | undefined;
  const abort = (reason: Error): void => {
    aborted ??= reason;
    request.destroy(reason);
  };
  const onAbort = (): void => abort(abortReason(signal));
  signal?.addEventListener("abort", onAbort);
  const cancel = options.clock.after(call.timeoutMs, () => abort(timeOut(call, options.endpoint)));
  request.once("close", () => {
    cancel();
    signal?.removeEventListener("abort", onAbort);
  });
  return new Promise((resolve, reject) => {
    request.once("response", (response: IncomingMessage) => {
      if (options.isStream && response.statusCode === 200) cancel();
      // It may fail before it is read.
      response.on("error", () => undefined);
      resolve({ response, abortedBy: () => aborted });
    });
    // Stays registered: the connection may fail after the response has started, and there is no other listener.
    request.on("error", (error) => reject(aborted ?? explain(error, request)));
    request.end(content?.body);
  });
}

function open(call: HttpRequest, { endpoint, agent, headers }: ExchangeOptions): ClientRequest {
  const { content } = call;
  const send = endpoint.isSecure ? requestSecure : requestPlain;
  return send({
    agent,
    method: call.method,
    hostname: endpoint.hostname,
    port: endpoint.port,
    path: `${endpoint.prefix}${call.path}`,
    headers: {
      accept: call.accept,
      ...headers,
      ...(content === undefined
        ? {}
        : { "content-type": content.type, "content-length": Buffer.byteLength(content.body) }),
    },
  });
}

function explain(error: Error, { reusedSocket }: ClientRequest): Error {
  const code = "code" in error ? error.code : undefined;
  const isStale = reusedSocket && (code === "ECONNRESET" || code === "EPIPE");
  return isStale ? new StaleConnection(error.message, { cause: error }) : error;
}

function timeOut({ method, path, timeoutMs }: HttpRequest, { server }: Endpoint): Fault {
  const [bare = ""] = path.split("?");
  return new Fault(
    "unreachable",
    `${server} did not reply to ${method} ${bare} in ${timeoutMs / 1000} s: is it overloaded?`,
  );
}

export function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error("the call was aborted", { cause: reason });
}

/** An API server's address, taken apart once. */
export interface Endpoint {
  /** As it was given; for messages. */
  readonly server: string;
  readonly isSecure: boolean;
  readonly hostname: string;
  readonly port: number;
  /** In front of every path: "" or, behind some proxies, such as `/k8s/clusters/c-1`. */
  readonly prefix: string;
}

export function endpointOf(server: string): Endpoint {
  const url = new URL(server);
  const isSecure = url.protocol === "https:";
  return {
    server,
    isSecure,
    hostname: url.hostname.replace(/^\[|\]$/gu, ""),
    port: url.port === "" ? (isSecure ? 443 : 80) : Number(url.port),
    prefix: url.pathname === "/" ? "" : url.pathname,
  };
}
