import type { X509Certificate } from "node:crypto";
import { type CrlSummary, readCrl } from "@resource-broker/runtime";
import { CommandError } from "../cli/exit-code.ts";
import { readCertificates } from "./certificate-facts.ts";
import { readText } from "./files.ts";

/** The certificates of those files that are there. */
export async function readAuthorities(files: readonly string[]): Promise<readonly X509Certificate[]> {
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await readText(file) })));
  return texts.flatMap(({ file, text }) => (text === undefined ? [] : readCertificates(text, file)));
}

/** The authorities that signed a certificate: serial numbers mean something only to them. */
export function issuersOf(
  certificate: X509Certificate,
  authorities: readonly X509Certificate[],
): readonly X509Certificate[] {
  return authorities.filter(
    (authority) => certificate.checkIssued(authority) && certificate.verify(authority.publicKey),
  );
}

/** Serial number → when it was revoked, from those lists of the authorities that are there. */
export async function readRevoked(
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
