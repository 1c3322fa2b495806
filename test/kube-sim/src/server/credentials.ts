import { type InMemoryAuthority, type IssuedCertificate, inMemoryAuthority } from "@resource-broker/runtime";
import { stringify } from "yaml";
import type { KubeSimDeps } from "../kube-sim.ts";

const YEAR_MS = 365 * 86_400_000;
const TOKEN_BYTES = 24;

/** What one cluster proves itself with, and what its users do. */
export interface Credentials {
  readonly ca: string;
  readonly server: IssuedCertificate;
  readonly admin: IssuedCertificate;
  readonly token: string;
}

/**
 * Whoever connects judges certificates by the real clock, whatever time it is in the simulated cluster: a test that
 * lives in another year must still get in.
 */
const realNow = (): number => performance.timeOrigin + performance.now();

export function createCredentials(name: string, { randomBytes }: KubeSimDeps): Credentials {
  const authority: InMemoryAuthority = inMemoryAuthority({
    commonName: `kube-sim ${name}`,
    now: realNow,
    randomBytes,
  });
  return {
    ca: authority.cert,
    server: authority.issue({
      commonName: "kube-apiserver",
      hosts: ["localhost", "127.0.0.1", "kubernetes.default.svc"],
      isServer: true,
      validForMs: YEAR_MS,
    }),
    admin: authority.issue({ commonName: "admin", isClient: true, validForMs: YEAR_MS }),
    token: Buffer.from(randomBytes(TOKEN_BYTES)).toString("hex"),
  };
}

export interface KubeconfigParts {
  readonly name: string;
  readonly url: string;
  readonly credentials: Credentials;
}

/** Everything is embedded, so that the text works wherever it is put. */
export function kubeconfigText({ name, url, credentials }: KubeconfigParts): string {
  const user = `${name}-admin`;
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: url, "certificate-authority-data": base64(credentials.ca) } }],
    users: [
      {
        name: user,
        user: {
          "client-certificate-data": base64(credentials.admin.cert),
          "client-key-data": base64(credentials.admin.key),
        },
      },
    ],
    contexts: [{ name, context: { cluster: name, user } }],
    "current-context": name,
  });
}

function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
