import { commonName, type TestCertificates } from "@resource-broker/testkit";
import type { Certificate } from "./manifest-types.ts";

const PURPOSES: Readonly<Record<string, "serverAuth" | "clientAuth">> = {
  "server auth": "serverAuth",
  "client auth": "clientAuth",
};

/** The Certificate of which a Secret is made. */
export function certificateFor(certificates: readonly Certificate[], secretName: string): Certificate {
  const found = certificates.find(({ spec }) => spec.secretName === secretName);
  if (found === undefined) throw new Error(`nothing in the manifests makes the Secret ${secretName}`);
  return found;
}

/** What cert-manager writes into the Secret of a Certificate. */
export function issueCertificate(
  { spec }: Certificate,
  authority: TestCertificates,
): Readonly<Record<string, string>> {
  const organizations = (spec.subject?.organizations ?? []).map((value) => ({ type: "O" as const, value }));
  const { cert, key, ca } = authority.leaf({
    subject: [...organizations, commonName(spec.commonName ?? "")],
    extendedKeyUsage: (spec.usages ?? []).flatMap((usage) => PURPOSES[usage] ?? []),
    subjectAltNames: [
      ...(spec.dnsNames ?? []).map((name) => `DNS:${name}`),
      ...(spec.ipAddresses ?? []).map((address) => `IP:${address}`),
    ],
  });
  return { "tls.crt": cert, "tls.key": key, "ca.crt": ca };
}
