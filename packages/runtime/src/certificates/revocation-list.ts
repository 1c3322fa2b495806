import type { X509Certificate } from "node:crypto";
import { type ParsedCrl, parseCrl, subjectIdOf } from "../x509/parse-crl.ts";
import { pemBlocks } from "../x509/pem.ts";

/** The revoked certificates of one authority. */
export interface RevocationList {
  readonly issuer: X509Certificate;
  /** Serial numbers as Node prints them: upper-case hex. */
  readonly serials: ReadonlySet<string>;
  /** When a newer list should have come; undefined: the list does not say. */
  readonly nextUpdateMs: number | undefined;
}

export interface RevocationLists {
  readonly lists: readonly RevocationList[];
  /** How many lists are of authorities that are not trusted: whom they revoke is refused anyway. */
  readonly skipped: number;
}

/**
 * Parses all lists of a PEM file. Lists of unknown authorities are skipped. A list that names a trusted authority must be signed
 * by it: skipping a damaged list would accept revoked certificates.
 */
export function readRevocationLists(pem: string, authorities: readonly X509Certificate[]): RevocationLists {
  const blocks = pemBlocks(pem, "X509 CRL");
  if (blocks.length === 0) throw new Error("it holds no revocation list (-----BEGIN X509 CRL-----)");
  const lists = blocks.map((bytes) => readRevocationList(parseCrl(bytes), authorities));
  const trusted = lists.filter((list) => list !== undefined);
  return { lists: trusted, skipped: lists.length - trusted.length };
}

/** Undefined: it is of an authority that is not trusted. */
function readRevocationList(
  list: ParsedCrl,
  authorities: readonly X509Certificate[],
): RevocationList | undefined {
  const issuer = authorities.find(({ publicKey }) => list.isSignedBy(publicKey));
  if (issuer === undefined) {
    const named = authorities.find((authority) => isNamedIn(list, authority));
    if (named === undefined) return undefined;
    throw new Error(
      `a list is not signed by the authority in ca.crt that it names (${named.subject}): it is damaged, or of an older authority with that name; write the file again`,
    );
  }
  const serials = new Set<string>();
  for (const { serial } of list.entries()) serials.add(serial);
  return { issuer, serials, nextUpdateMs: list.nextUpdate };
}

/**
 * Compares key IDs where both have one, else names. Different key IDs share few digits: with the same name and mostly equal
 * digits it is the same ID, damaged.
 */
function isNamedIn({ issuer }: ParsedCrl, authority: X509Certificate): boolean {
  const { name, keyId } = subjectIdOf(authority);
  const hasName = name.equals(issuer.name);
  if (keyId === undefined || issuer.keyId === undefined) return hasName;
  return keyId === issuer.keyId || (hasName && isAlike(keyId, issuer.keyId));
}

function isAlike(a: string, b: string): boolean {
  const common = a.split("").filter((digit, at) => digit === b[at]).length;
  return 2 * common >= Math.min(a.length, b.length);
}

/** Of one authority: its certificate may have been renewed. */
export function isOfSameKey(a: RevocationList, { publicKey }: X509Certificate): boolean {
  return a.issuer.publicKey.equals(publicKey);
}

/** The lists in `known` of authorities of which there is none among the new ones. */
export function withoutSuccessor(
  known: readonly RevocationList[],
  lists: readonly RevocationList[],
): readonly RevocationList[] {
  return known.filter(({ issuer }) => !lists.some((list) => isOfSameKey(list, issuer)));
}

/** The authority by its name, and by its key's id: one that replaces another mostly has the same name. */
export function authorityOf({ issuer }: RevocationList): string {
  const { keyId } = subjectIdOf(issuer);
  const name = issuer.subject.replaceAll("\n", ", ");
  return keyId === undefined ? name : `${name} (key ID ${keyId})`;
}
