import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type Authority,
  type CertificateOptions,
  type CrlOptions,
  type KeyPair,
  makeCertificate,
  makeCrl,
  makeKeys,
} from "./make-certificate.ts";
import { type Attribute, commonName, type Subject } from "./subject.ts";

/** Spread it into the options of `https.request`, `tls.connect` or `https.createServer`. */
export interface Credentials {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
  readonly serial: string;
}

/** What a broker, its clusters and its admins show each other. */
export interface PeerCertificates {
  readonly broker: FolderContents;
  readonly cluster: (id: string) => FolderContents;
  readonly admin: (id: string) => FolderContents;
}

export interface TestCertificates extends PeerCertificates {
  /** The authority everybody trusts. */
  readonly ca: Authority;
  /** The broker's server certificate for localhost, 127.0.0.1 and ::1; its Common Name is `broker`. */
  readonly broker: Credentials;
  /** A right client certificate. */
  readonly cluster: (id: string) => Credentials;
  /** A right client certificate with `OU=broker-admin`. */
  readonly admin: (id: string) => Credentials;
  /** A client certificate with chosen parts, signed by `ca` unless another authority is named. */
  readonly leaf: (options: CertificateOptions, issuer?: Authority) => Credentials;
  /** A self-signed certificate. */
  readonly selfSigned: (options: CertificateOptions) => Credentials;
  /** Another authority: one with the same name but another key, or one below `ca`. */
  readonly authority: (options?: CertificateOptions, parent?: Authority) => Authority;
  /** A revocation list of `ca` as PEM: revoked are the given certificates. */
  readonly crl: (revoked: readonly Pick<Credentials, "serial">[], options?: CrlOptions) => string;
}

export const ADMIN_UNIT: Attribute = { type: "OU", value: "broker-admin" };
const CA_SUBJECT: Subject = [commonName("Resource Broker test CA")];

/** A certificate authority in memory and certificates from it, right and wrong; each takes well under a millisecond. */
export async function testCertificates(): Promise<TestCertificates> {
  const ca = makeAuthority({});
  const leaf: TestCertificates["leaf"] = (options, issuer = ca) => issue(options, issuer, ca);
  return {
    ca,
    broker: leaf({
      subject: [commonName("broker")],
      extendedKeyUsage: ["serverAuth"],
      subjectAltNames: ["DNS:localhost", "IP:127.0.0.1", "IP:::1"],
    }),
    cluster: (id) => leaf({ subject: [commonName(id)] }),
    admin: (id) => leaf({ subject: [ADMIN_UNIT, commonName(id)] }),
    leaf,
    selfSigned: (options) => issue(options, undefined, ca),
    authority: makeAuthority,
    crl: (revoked, options) =>
      makeCrl(
        ca,
        revoked.map(({ serial }) => serial),
        options,
      ),
  };
}

export interface FolderContents extends Pick<Credentials, "cert" | "key" | "ca"> {
  readonly crl?: string;
}

/** Writes a certificate folder as cert-manager mounts it. Writing again replaces each file at once, as a rotation does. */
export async function writeCertificateFolder(folder: string, contents: FolderContents): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const files = {
    "tls.crt": contents.cert,
    "tls.key": contents.key,
    "ca.crt": contents.ca,
    "crl.pem": contents.crl,
  };
  for (const [name, text] of Object.entries(files)) {
    if (text === undefined) continue;
    await writeFile(join(folder, `.${name}`), text, { mode: 0o600 });
    await rename(join(folder, `.${name}`), join(folder, name));
  }
}

function makeAuthority(options: CertificateOptions = {}, parent?: Authority): Authority {
  const subject = options.subject ?? CA_SUBJECT;
  const keys = options.keys ?? makeKeys();
  const { cert } = makeCertificate(
    {
      basicConstraints: { ca: true },
      keyUsage: ["keyCertSign", "cRLSign"],
      extendedKeyUsage: "absent",
      ...options,
      subject,
      keys,
    },
    parent,
  );
  return { subject, keys, cert };
}

function issue(options: CertificateOptions, issuer: Authority | undefined, trusted: Authority): Credentials {
  const { cert, keys, serial } = makeCertificate(options, issuer);
  return { cert, key: privatePem(keys), ca: trusted.cert, serial };
}

/** The private key as PEM. */
export function privatePem({ privateKey }: KeyPair): string {
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}
