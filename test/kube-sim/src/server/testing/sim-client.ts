import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { parse } from "yaml";
import type { SimCluster } from "../../kube-sim.ts";

export interface SimReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body as JSON. */
  readonly json: () => Readonly<Record<string, unknown>>;
}

export interface SimCall {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly type?: string;
  /** True: without a certificate. */
  readonly isAnonymous?: boolean;
}

export interface SimWatch {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The next event; undefined when the stream has ended, however it ended. */
  readonly next: () => Promise<WatchEvent | undefined>;
  readonly close: () => void;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Speaks plain HTTPS to a simulated cluster, as its kubeconfig says. */
export interface SimClient {
  readonly call: (path: string, call?: SimCall) => Promise<SimReply>;
  readonly watch: (path: string, headers?: Readonly<Record<string, string>>) => Promise<SimWatch>;
  readonly close: () => void;
}

interface Kubeconfig {
  readonly clusters: readonly [
    { readonly cluster: { readonly server: string; readonly "certificate-authority-data": string } },
  ];
  readonly users: readonly [
    { readonly user: { readonly "client-certificate-data": string; readonly "client-key-data": string } },
  ];
}

export function simClient({ kubeconfig, url }: Pick<SimCluster, "kubeconfig" | "url">): SimClient {
  const { clusters, users } = parse(kubeconfig) as Kubeconfig;
  const ca = decoded(clusters[0].cluster["certificate-authority-data"]);
  const cert = decoded(users[0].user["client-certificate-data"]);
  const key = decoded(users[0].user["client-key-data"]);
  // A connection of its own for each call: one that was cut must not fail the next.
  const known = new Agent({ ca, cert, key });
  const anonymous = new Agent({ ca });
  const open = (path: string, { method = "GET", headers = {}, body, type, isAnonymous = false }: SimCall) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request(
        `${url}${path}`,
        {
          method,
          agent: isAnonymous ? anonymous : known,
          headers: {
            ...(body === undefined ? {} : { "content-type": type ?? "application/json" }),
            ...headers,
          },
        },
        resolve,
      );
      outgoing.once("error", reject);
      outgoing.end(body);
    });
  return {
    call: async (path, call = {}) => readReply(await open(path, call)),
    watch: async (path, headers = {}) => watchOf(await open(path, { headers })),
    close: () => {
      known.destroy();
      anonymous.destroy();
    },
  };
}

async function readReply(incoming: IncomingMessage): Promise<SimReply> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const text = bytes.toString("utf8");
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    bytes,
    text,
    json: () => JSON.parse(text) as Readonly<Record<string, unknown>>,
  };
}

function watchOf(incoming: IncomingMessage): SimWatch {
  const events: WatchEvent[] = [];
  let rest = "";
  let hasEnded = false;
  let wake: (() => void) | undefined;
  incoming.setEncoding("utf8");
  incoming.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    events.push(...lines.map((line) => JSON.parse(line) as WatchEvent));
    wake?.();
  });
  incoming.on("error", () => undefined);
  incoming.once("close", () => {
    hasEnded = true;
    wake?.();
  });
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    next: async () => {
      while (events.length === 0 && !hasEnded) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return events.shift();
    },
    close: () => incoming.destroy(),
  };
}

function decoded(base64: string): string {
  return Buffer.from(base64, "base64").toString("utf8");
}
