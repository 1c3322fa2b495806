import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeKeys } from "../certificates/make-certificate.ts";
import { commonName } from "../certificates/subject.ts";
import { type Credentials, privatePem, testCertificates } from "../certificates/test-certificates.ts";

/** Where the programs find what they prove themselves with. */
export interface CredentialFiles {
  readonly ca: string;
  readonly caKey: string;
  readonly serverCert: string;
  readonly serverKey: string;
  /** Signs the tokens of service accounts. */
  readonly tokenKey: string;
  readonly tokenPublicKey: string;
}

export interface ControlPlaneCredentials {
  readonly files: CredentialFiles;
  /** A client whom Kubernetes gives all rights, whatever its roles say. */
  readonly admin: Credentials;
}

/** The group that no role can be taken from. */
const ALL_RIGHTS = "system:masters";

/** An authority, and the certificates and keys of one control plane. */
export async function writeCredentials(directory: string, address: string): Promise<ControlPlaneCredentials> {
  const { ca, leaf } = await testCertificates();
  const server = leaf({
    subject: [commonName("kube-apiserver")],
    extendedKeyUsage: ["serverAuth"],
    subjectAltNames: ["DNS:localhost", "DNS:kubernetes.default.svc", "IP:127.0.0.1", `IP:${address}`],
  });
  const admin = leaf({ subject: [{ type: "O", value: ALL_RIGHTS }, commonName("admin")] });
  const tokenKeys = makeKeys();
  const texts: Record<keyof CredentialFiles, string> = {
    ca: ca.cert,
    caKey: privatePem(ca.keys),
    serverCert: server.cert,
    serverKey: server.key,
    tokenKey: privatePem(tokenKeys),
    tokenPublicKey: tokenKeys.publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
  const folder = join(directory, "credentials");
  await mkdir(folder, { mode: 0o700 });
  const files = { ...texts };
  for (const name of Object.keys(texts) as (keyof CredentialFiles)[]) {
    files[name] = join(folder, `${name}.pem`);
    await writeFile(files[name], texts[name], { mode: 0o600 });
  }
  return { files, admin };
}
