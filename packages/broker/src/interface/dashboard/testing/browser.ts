import { type IncomingHttpHeaders, request } from "node:http";
import { request as secureRequest } from "node:https";
import type { ClientCredentials } from "../../http/testing/call.ts";

/** Where a test's browser calls. */
export interface Target {
  readonly port: number;
  /** Over TLS; absent: plain HTTP. */
  readonly credentials?: ClientCredentials;
}

export interface VisitOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string is sent as it is. */
  readonly body?: unknown;
}

export interface Visit {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** The text as JSON; undefined where it is none. */
  readonly json: unknown;
}

/** One request with exactly these headers, as no browser would let a page send it. `what` reads `GET /api/v1/dashboard/session`. */
export function visit(target: Target, what: string, options: VisitOptions = {}): Promise<Visit> {
  return new Promise((resolve, reject) => {
    const sent = open(target, what, options);
    sent.on("error", reject);
    sent.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const bytes = Buffer.concat(chunks);
        const text = bytes.toString("utf8");
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          bytes,
          text,
          json: jsonIn(text),
        });
      });
    });
  });
}

/** An open stream of events. */
export interface Listening {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly received: () => string;
  /** Resolves once the text was heard. */
  readonly receives: (wanted: string | RegExp) => Promise<string>;
  readonly closed: Promise<void>;
  readonly close: () => void;
}

export function listenTo(target: Target, what: string, options: VisitOptions = {}): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const sent = open(target, what, options);
    sent.on("error", reject);
    sent.on("response", (response) => {
      let received = "";
      const lookers = new Set<() => void>();
      response.setEncoding("utf8");
      response.on("error", () => undefined);
      response.on("data", (text: string) => {
        received += text;
        for (const look of lookers) look();
      });
      const closed = new Promise<void>((end) => void response.once("close", () => end()));
      const receives: Listening["receives"] = (wanted) =>
        new Promise((found, fail) => {
          const look = (): void => {
            if (typeof wanted === "string" ? received.includes(wanted) : wanted.test(received))
              found(received);
          };
          lookers.add(look);
          void closed.then(() => fail(new Error(`closed after: ${received}`)));
          look();
        });
      const { statusCode: status = 0, headers } = response;
      resolve({ status, headers, received: () => received, receives, closed, close: () => sent.destroy() });
    });
  });
}

function open({ port, credentials }: Target, what: string, { headers = {}, body }: VisitOptions) {
  const [method = "", path = ""] = what.split(" ");
  const content = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const common = { host: "127.0.0.1", port, method, path, agent: false };
  const sent = {
    ...common,
    headers: {
      ...(content === undefined
        ? {}
        : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(content)) }),
      ...headers,
    },
  };
  const asked =
    credentials === undefined
      ? request(sent)
      : secureRequest({ ...sent, ...credentials, servername: "localhost" });
  asked.end(content);
  return asked;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
