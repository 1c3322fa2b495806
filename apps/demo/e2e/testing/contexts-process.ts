import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { testCertificates } from "@resource-broker/testkit";
import { parse } from "yaml";
import type { Report } from "../../src/contexts/report.ts";

const MAIN = join(import.meta.dirname, "../../src/main.ts");

export interface ContextsEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `npm start -- --contexts …` as a person starts it. */
export function runContexts(kubeconfig: string, args: readonly string[]): Promise<ContextsEnd> {
  const env = { PATH: process.env["PATH"], KUBECONFIG: kubeconfig };
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, "--contexts", ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}

export async function reportOf(kubeconfig: string, args: readonly string[]): Promise<Report> {
  const { stdout, stderr } = await runContexts(kubeconfig, [...args, "-o", "json"]);
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as Report;
}

interface Entries {
  readonly clusters: readonly { readonly cluster: object }[];
  readonly users: readonly { readonly user: object }[];
}

/** One kubeconfig with a context for each cluster, as people have it. */
export function joinedKubeconfig(texts: Readonly<Record<string, string>>): string {
  const entries = Object.entries(texts).map(([name, text]) => ({ name, ...(parse(text) as Entries) }));
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: entries.map(({ name, clusters }) => ({ name, cluster: clusters[0]?.cluster })),
    users: entries.map(({ name, users }) => ({ name, user: users[0]?.user })),
    contexts: entries.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
  });
}

/** Sees every request on its way to an API server: what a client did is known, not believed. */
export interface RecordingProxy {
  readonly url: string;
  /** PEM of the authority behind its certificate. */
  readonly ca: string;
  /** `GET /api/v1/pods`, each with its query. */
  readonly seen: readonly string[];
  readonly close: () => Promise<void>;
}

/** Logins must travel in headers: the server behind it sees the proxy's connection. */
export async function startRecordingProxy(port: number): Promise<RecordingProxy> {
  const { broker } = await testCertificates();
  const seen: string[] = [];
  const server = createServer({ cert: broker.cert, key: broker.key }, (incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    seen.push(`${method} ${path}`);
    const options = { host: "127.0.0.1", port, method, path, headers, rejectUnauthorized: false };
    const passed = request(options, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${own}`,
    ca: broker.ca,
    seen,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
