import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { errorText } from "@resource-broker/base";
import { pemBlocks, readPem } from "../x509/pem.ts";
import { type RevocationList, type RevocationLists, readRevocationLists } from "./revocation-list.ts";

/** The files of a certificate folder, as text. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
  readonly crl: string | undefined;
}

/** A consistent set: the program's certificate and the trusted authorities. */
export interface CertificateSet {
  readonly files: CertificateFiles;
  readonly own: X509Certificate;
  readonly authorities: readonly X509Certificate[];
  readonly revocations: readonly RevocationList[];
  /** How many lists in `crl.pem` are of authorities that are not in `ca.crt`. */
  readonly skippedLists: number;
}

export const FILE_NAMES: Readonly<Record<keyof CertificateFiles, string>> = {
  cert: "tls.crt",
  key: "tls.key",
  ca: "ca.crt",
  crl: "crl.pem",
};

const NO_LISTS: RevocationLists = { lists: [], skipped: 0 };

/** Checks that the files belong together; throws with the name of the file that does not. */
export function readCertificateSet(files: CertificateFiles): CertificateSet {
  const own = of(FILE_NAMES.cert, () => new X509Certificate(files.cert));
  const authorities = of(FILE_NAMES.ca, () => readAuthorities(files.ca));
  of(`${FILE_NAMES.cert} and ${FILE_NAMES.key}`, () =>
    createSecureContext({ cert: files.cert, key: files.key, ca: files.ca }),
  );
  const { crl } = files;
  const { lists, skipped } =
    crl === undefined ? NO_LISTS : of(FILE_NAMES.crl, () => readRevocationLists(crl, authorities));
  return { files, own, authorities, revocations: lists, skippedLists: skipped };
}

/** How many certificates are revoked. */
export function revokedCount({ revocations }: Pick<CertificateSet, "revocations">): number {
  return revocations.reduce((count, { serials }) => count + serials.size, 0);
}

/** True when the file contents are equal. */
export function isSameSet(a: CertificateFiles, b: CertificateFiles): boolean {
  return a.cert === b.cert && a.key === b.key && a.ca === b.ca && a.crl === b.crl;
}

function readAuthorities(pem: string): X509Certificate[] {
  // OpenSSL also accepts these labels: the trusted certificates must be exactly those parsed here.
  const odd = readPem(pem).find(({ label }) => label !== "CERTIFICATE" && label.endsWith("CERTIFICATE"));
  if (odd !== undefined) {
    throw new Error(`it holds a ${odd.label}: write it as CERTIFICATE, as openssl x509 -in FILE does`);
  }
  const authorities = pemBlocks(pem, "CERTIFICATE").map((block) => new X509Certificate(block));
  if (authorities.length === 0) throw new Error("it holds no certificate");
  if (!authorities.some(({ ca }) => ca)) throw new Error("it holds no certificate of an authority");
  return authorities;
}

function of<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(`${name}: ${errorText(cause)}`, { cause });
  }
}

/** Expiry of a certificate file. */
export interface CertificateExpiry {
  readonly file: string;
  readonly atSeconds: number;
}

/**
 * Expiry of the program's certificate and of its CA file. During a CA rotation the file has several authorities: the latest
 * expiry counts.
 */
export function certificateExpiries({ own, authorities }: CertificateSet): readonly CertificateExpiry[] {
  const seconds = (date: Date): number => date.getTime() / 1000;
  return [
    { file: FILE_NAMES.cert, atSeconds: seconds(own.validToDate) },
    {
      file: FILE_NAMES.ca,
      atSeconds: Math.max(...authorities.map(({ validToDate }) => seconds(validToDate))),
    },
  ];
}

/** The same source; `onSet` is also called with the first set and with every later one. */
export function observedCertificates(
  source: CertificateSource,
  onSet: (set: CertificateSet) => void,
): CertificateSource {
  return {
    ...source,
    start: async () => {
      const first = await source.start();
      onSet(first);
      source.onChange(onSet);
      return first;
    },
  };
}

/** Source of a program's certificates, with reload. */
export interface CertificateSource {
  /** The first valid set; rejects when it is invalid. */
  readonly start: () => Promise<CertificateSet>;
  /** Called with every later valid set that differs; the returned function unsubscribes. */
  readonly onChange: (listener: (set: CertificateSet) => void) => () => void;
  readonly stop: () => void;
}
