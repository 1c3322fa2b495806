import type { X509Certificate } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { type CrlSummary, readCrl } from "@resource-broker/runtime";
import { CommandError } from "../cli/exit-code.ts";
import {
  type CertificateFacts,
  certificateFacts,
  isSignedBy,
  readCertificates,
} from "./certificate-facts.ts";
import { ENROLLMENT, folderOf, isDirectory, type Layout, namesIn, readText } from "./files.ts";

export const AUTHORITY = "ca";
const ADMIN_AUTHORITY = "admin-ca";

/** Where a certificate and what belongs to it are found. */
interface CertificateLocation {
  readonly name: string;
  readonly cert: string;
  readonly key?: string;
  readonly authorities: readonly string[];
  readonly crls: readonly string[];
}

/** Everything here that signs: the authority, and in folders of this version those of admins and of joining clusters. */
export async function readSigners(layout: Layout, now: number): Promise<readonly CertificateFacts[]> {
  const { caCert, caKey, adminCert, adminKey, enrollment, crl } = layout;
  const root = { name: AUTHORITY, cert: caCert, key: caKey, authorities: [caCert], crls: [] };
  const admins = {
    name: ADMIN_AUTHORITY,
    cert: adminCert,
    key: adminKey,
    authorities: [adminCert],
    crls: [],
  };
  const below = {
    name: ENROLLMENT,
    cert: join(enrollment, "tls.crt"),
    key: join(enrollment, "tls.key"),
    authorities: [caCert],
    crls: [crl],
  };
  const found = await Promise.all([root, admins, below].map((place) => readAt(place, now)));
  return found.flat();
}

/** The certificates of these clusters (or the broker) that are there. */
export async function readNamed(
  layout: Layout,
  names: readonly string[],
  now: number,
): Promise<readonly CertificateFacts[]> {
  const found = await Promise.all(names.map((name) => readAt(locationOf(layout, name), now)));
  return found.flat();
}

/** Certificates in a file or folder anywhere; judged by what lies beside them and by the authority in `layout`. */
export async function readPath(
  layout: Layout,
  path: string,
  now: number,
): Promise<readonly CertificateFacts[]> {
  const name = await managedName(layout, path);
  if (name !== undefined) return readAt(locationOf(layout, name), now);
  return readAt(await locationAt(layout, path), now);
}

function locationOf(layout: Layout, name: string): CertificateLocation {
  const folder = folderOf(layout, name);
  return {
    name,
    cert: join(folder, "tls.crt"),
    key: join(folder, "tls.key"),
    authorities: [layout.caCert, layout.adminCert],
    crls: [layout.crl],
  };
}

async function locationAt(layout: Layout, path: string): Promise<CertificateLocation> {
  const isFolder = await isDirectory(path);
  if (isFolder && (await readText(join(path, "tls.crt"))) === undefined) {
    throw new CommandError(
      "error",
      `${path} holds no tls.crt. For all certificates below it: brokerctl certs show --dir ${path}`,
    );
  }
  const folder = isFolder ? path : dirname(path);
  return {
    name: path,
    cert: isFolder ? join(path, "tls.crt") : path,
    ...(isFolder ? { key: join(path, "tls.key") } : {}),
    authorities: [join(folder, "ca.crt"), layout.caCert, layout.adminCert],
    crls: [join(folder, "crl.pem"), layout.crl],
  };
}

/** The cluster (or broker) that a path belongs to: a path shows the same facts as the name. */
async function managedName(layout: Layout, path: string): Promise<string | undefined> {
  return (await namesIn(layout)).find((name) => {
    const folder = resolve(folderOf(layout, name));
    return [folder, join(folder, "tls.crt")].includes(resolve(path));
  });
}

async function readAt(place: CertificateLocation, now: number): Promise<readonly CertificateFacts[]> {
  const text = await readText(place.cert);
  if (text === undefined) return [];
  const [first, ...above] = readCertificates(text, place.cert);
  if (first === undefined) throw new CommandError("error", `${place.cert} holds no certificate in PEM`);
  const authorities = await readAuthorities(place.authorities);
  const facts = certificateFacts([first, ...above], {
    name: place.name,
    file: place.cert,
    now,
    authorities,
    revoked: await readRevoked(place.crls, issuersOf(first, authorities)),
    keyPem: place.key === undefined ? undefined : await readText(place.key),
  });
  return [facts];
}

/** The certificates of those files that are there. */
export async function readAuthorities(files: readonly string[]): Promise<readonly X509Certificate[]> {
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await readText(file) })));
  return texts.flatMap(({ file, text }) => (text === undefined ? [] : readCertificates(text, file)));
}

/** The authorities that signed a certificate: serial numbers mean something only to them. */
function issuersOf(
  certificate: X509Certificate,
  authorities: readonly X509Certificate[],
): readonly X509Certificate[] {
  return authorities.filter((authority) => isSignedBy(certificate, authority));
}

/** Serial number → when it was revoked, from those lists of the authorities that are there. */
async function readRevoked(
  files: readonly string[],
  authorities: readonly X509Certificate[],
): Promise<ReadonlyMap<string, number>> {
  const lists = await Promise.all(
    files.map(async (file) => {
      const text = await readText(file);
      return text === undefined ? undefined : trustedCrl(text, file, authorities);
    }),
  );
  return new Map(lists.flatMap((list) => [...(list?.revoked ?? [])]));
}

/** A revocation list, if one of the authorities signed it: anybody can write one. */
export function trustedCrl(
  text: string,
  file: string,
  authorities: readonly X509Certificate[],
): CrlSummary | undefined {
  try {
    return authorities.map(({ publicKey }) => readCrl(text, publicKey)).find((list) => list !== undefined);
  } catch (error) {
    throw new CommandError("error", `${file} is not a revocation list that can be read`, { cause: error });
  }
}
