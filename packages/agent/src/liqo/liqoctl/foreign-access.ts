import type { KubeConfig } from "@resource-broker/kube";

/** The only parts that are taken from another cluster's kubeconfig. */
export interface ForeignAccess {
  /** Always https. */
  readonly server: string;
  /** PEM. Absent: the authorities that the system trusts. */
  readonly ca?: string;
  readonly certificate?: { readonly cert: string; readonly key: string };
  readonly token?: string;
}

export function foreignConfig(access: ForeignAccess, origin: string): KubeConfig {
  const { server, ca, certificate, token } = access;
  return {
    origin,
    server,
    namespace: "default",
    trust: { insecureSkipVerify: false, ...(ca === undefined ? {} : { ca: { kind: "text", text: ca } }) },
    user: {
      ...(certificate === undefined
        ? {}
        : {
            certificate: {
              cert: { kind: "text", text: certificate.cert },
              key: { kind: "text", text: certificate.key },
            },
          }),
      ...(token === undefined ? {} : { login: { kind: "token", token: { kind: "text", text: token } } }),
    },
  };
}

/** Writes a new kubeconfig from the checked fields only. */
export function foreignText({ server, ca, certificate, token }: ForeignAccess): string {
  const name = "provider";
  const user = {
    "client-certificate-data": base64(certificate?.cert),
    "client-key-data": base64(certificate?.key),
    token,
  };
  // JSON is valid YAML that every parser reads alike. Undefined fields are left out.
  return `${JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server, "certificate-authority-data": base64(ca) } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  })}\n`;
}

function base64(text: string | undefined): string | undefined {
  return text === undefined ? undefined : Buffer.from(text, "utf8").toString("base64");
}
