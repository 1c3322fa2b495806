import { request } from "node:https";
import { text } from "node:stream/consumers";
import { parseJson } from "@resource-broker/base";
import type { Credentials } from "../certificates/test-certificates.ts";
import type { ServerAccess, ServerReply } from "./control-plane.ts";

interface ServerRequest {
  readonly port: number;
  readonly credentials: Pick<Credentials, "cert" | "key" | "ca">;
  readonly method: string;
  readonly path: string;
  readonly body?: object | undefined;
  /** Absent: JSON. */
  readonly accept?: string;
}

const TIMEOUT_MS = 30_000;

/** One request on a connection of its own: none is left over from a server that was killed since. */
export function requestServer({
  port,
  credentials,
  method,
  path,
  body,
  accept = "application/json",
}: ServerRequest): Promise<ServerReply> {
  const { cert, key, ca } = credentials;
  const isPatch = method === "PATCH";
  const headers = { accept, "content-type": isPatch ? "application/merge-patch+json" : "application/json" };
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, method, path, headers, cert, key, ca, agent: false });
    sent.setTimeout(TIMEOUT_MS, () => sent.destroy(new Error(`no answer to ${method} ${path}`)));
    sent.once("error", reject);
    sent.once("response", (response) => {
      text(response).then(
        (content) => resolve({ status: response.statusCode ?? 0, body: parseJson(content) ?? content }),
        reject,
      );
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const DAY_SECONDS = 86_400;

export interface AccessParts {
  readonly name: string;
  readonly admin: Credentials;
  /** Where clients find the server. */
  readonly address: string;
  /** The port to write down: the server's own, or that of a proxy. */
  readonly port: number;
  readonly serverPort: number;
}

export function accessThrough({ name, admin, address, port, serverPort }: AccessParts): ServerAccess {
  const url = `https://${address}:${port}`;
  const { ca } = admin;
  return {
    url,
    port,
    kubeconfig: kubeconfigText({ name, url, ca, user: admin }),
    kubeconfigFor: async (serviceAccount) => {
      const path = `/api/v1/namespaces/${serviceAccount.namespace}/serviceaccounts/${serviceAccount.name}/token`;
      const spec = { expirationSeconds: DAY_SECONDS };
      const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
      const reply = await requestServer({ port: serverPort, credentials: admin, method: "POST", path, body });
      return kubeconfigText({ name, url, ca, user: { token: tokenIn(reply) } });
    },
  };
}

function tokenIn({ status, body }: ServerReply): string {
  const token = (body as { status?: { token?: unknown } }).status?.token;
  if (status !== 201 || typeof token !== "string")
    throw new Error(`the API server gives no token: ${JSON.stringify(body)}`);
  return token;
}

interface KubeconfigParts {
  readonly name: string;
  readonly url: string;
  readonly ca: string;
  readonly user: { readonly token: string } | Pick<Credentials, "cert" | "key">;
}

/** Everything is embedded. It is JSON, which is YAML as well. */
function kubeconfigText({ name, url, ca, user }: KubeconfigParts): string {
  const login =
    "token" in user
      ? { token: user.token }
      : { "client-certificate-data": base64(user.cert), "client-key-data": base64(user.key) };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: url, "certificate-authority-data": base64(ca) } }],
    users: [{ name, user: login }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
