import { X509Certificate } from "node:crypto";
import { errorText } from "@resource-broker/base";
import { type CertificateSet, type MoreAuthorities, readPem, readText } from "@resource-broker/runtime";

export interface ClientTrustOptions {
  /** The file of the admins' authority; undefined: every authority may make admins. */
  readonly adminCa: string | undefined;
  /** Those that sign, or have signed, certificates of invited agents: first the one that signs now. Empty: none here does. */
  readonly enrollmentAuthorities: () => readonly X509Certificate[];
  readonly onChange: MoreAuthorities["onChange"];
}

/** Which authorities clients may come from, beside those of ca.crt. */
export interface ClientTrust extends MoreAuthorities {
  /** The only authorities of a set that make admins; undefined: all of them do. */
  readonly adminAuthorities: AdminAuthorities;
  /** The authorities of a set that the broker's own certificate may lead to: not those that are trusted for clients alone. */
  readonly serverAuthorities: (set: CertificateSet) => readonly X509Certificate[];
}

export type AdminAuthorities = (set: CertificateSet) => readonly X509Certificate[] | undefined;

/** Authorities for clients alone. */
interface Added {
  readonly admins: readonly X509Certificate[];
  readonly enrollment: readonly X509Certificate[];
}

export function clientTrust({ adminCa, enrollmentAuthorities, onChange }: ClientTrustOptions): ClientTrust {
  /**
   * By the text that they became part of. What was read last need not be in force: the rest of its folder may not fit. So
   * a set is judged by what was read with it. There is one entry per rotation.
   */
  const added = new Map<string, Added>();

  const readAdmins = async (
    file: string,
    others: readonly X509Certificate[],
  ): Promise<readonly X509Certificate[]> => {
    try {
      const read = certificatesIn(await readText(file));
      const problem = adminProblem(read, others);
      if (problem !== undefined) throw new Error(problem);
      return read;
    } catch (cause) {
      throw new Error(`--admin-ca ${file}: ${errorText(cause)}`, { cause });
    }
  };

  return {
    adminAuthorities: ({ files }) =>
      adminCa === undefined ? undefined : (added.get(files.ca)?.admins ?? []),
    serverAuthorities: ({ files, authorities }) => {
      const { admins = [], enrollment = [] } = added.get(files.ca) ?? {};
      const others = [...admins, ...enrollment].map((each) => each.fingerprint256);
      return authorities.filter(({ fingerprint256 }) => !others.includes(fingerprint256));
    },
    onChange,
    addTo: async (ca) => {
      const own = certificatesIn(ca);
      const [signing, ...earlier] = enrollmentAuthorities();
      const isBelow = (each: X509Certificate): boolean => own.some((above) => isIssuer(above, each));
      if (signing !== undefined && !isBelow(signing))
        throw new Error("ca.crt lacks the authority above tls.crt of --enrollment-cert-path: add it there");
      const enrollment = signing === undefined ? [] : [signing, ...earlier.filter(isBelow)];
      const admins = adminCa === undefined ? [] : await readAdmins(adminCa, [...own, ...enrollment]);
      const text = `${ca}\n${[...admins, ...enrollment].join("")}`;
      added.set(text, { admins, enrollment });
      return text;
    },
  };
}

/** Whoever can sign certificates of clusters must not be able to make admins, nor the other way round. */
function adminProblem(
  admins: readonly X509Certificate[],
  others: readonly X509Certificate[],
): string | undefined {
  if (admins.length === 0) return "it holds no certificate";
  if (!admins.every(({ ca }) => ca)) return "it holds a certificate that belongs to no authority";
  const isShared = admins.some((admin) =>
    others.some((each) => each.publicKey.equals(admin.publicKey) || (each.ca && isIssuer(admin, each))),
  );
  return isShared
    ? "ca.crt or --enrollment-cert-path holds this authority, or one below it: admins need one of their own"
    : undefined;
}

function isIssuer(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

export function certificatesIn(pem: string): X509Certificate[] {
  return readPem(pem).flatMap(({ label, der }) =>
    label === "CERTIFICATE" ? [new X509Certificate(der)] : [],
  );
}
