import type { Credentials } from "../certificates/test-certificates.ts";

export interface KubeconfigParts {
  readonly name: string;
  readonly url: string;
  readonly ca: string;
  readonly user: { readonly token: string } | Pick<Credentials, "cert" | "key">;
}

/** Everything is embedded. It is JSON, which is YAML as well. */
export function kubeconfigText({ name, url, ca, user }: KubeconfigParts): string {
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
