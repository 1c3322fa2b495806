import type { Credentials } from "../certificates/test-certificates.ts";
import type { ServerAccess, ServerReply } from "./control-plane.ts";
import { requestServer } from "./request-server.ts";

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
