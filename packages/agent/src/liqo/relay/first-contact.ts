import { X509Certificate, verify } from "node:crypto";
import { SIGNED_TEXT, type Statement } from "@resource-broker/contract";
import { EXTENDED_KEY_USAGE_IDS, readPem } from "@resource-broker/runtime";

const MAX_CHAIN = 4;

interface Trust {
  readonly authorities: readonly X509Certificate[];
  /** By the broker's clock: a wrong local clock must not decide. */
  readonly now: number;
}

/**
 * Why the sender's certificate does not vouch for its identity key; undefined: it does. Whoever holds the key of an
 * authority can forge this: only a fingerprint that a person has compared is better.
 */
export function firstContactProblem(statement: Statement, trust: Trust): string | undefined {
  try {
    return chainProblem(statement, trust);
  } catch {
    // Node throws for keys that cannot sign, such as X25519's.
    return "its certificate has a key that cannot be used";
  }
}

function chainProblem(statement: Statement, trust: Trust): string | undefined {
  const chain = certificatesIn(statement.certificate);
  const [leaf] = chain;
  if (leaf === undefined || chain.length > MAX_CHAIN) return "its statement has no certificate in PEM";
  const problem = leafProblem(leaf, statement.from);
  if (problem !== undefined) return problem;
  if (!leadsTo(chain, trust)) return "its certificate does not lead to the fleet's authority, or is expired";
  const text = Buffer.from(SIGNED_TEXT.identityKey(statement.from, statement.fromKey));
  const { publicKey } = leaf;
  const hash = publicKey.asymmetricKeyType === "ed25519" ? undefined : "sha256";
  if (verify(hash, text, publicKey, Buffer.from(statement.keyProof, "base64"))) return undefined;
  return "its certificate's key has not signed its identity key";
}

function certificatesIn(pem: string): X509Certificate[] {
  try {
    return readPem(pem).flatMap(({ label, der }) =>
      label === "CERTIFICATE" ? [new X509Certificate(Buffer.from(der))] : [],
    );
  } catch {
    return [];
  }
}

function leafProblem(leaf: X509Certificate, clusterId: string): string | undefined {
  if (leaf.ca) return "its certificate is an authority's";
  // Node writes one attribute per line and escapes line breaks in values.
  const names = leaf.subject.split("\n").filter((line) => /^(?:CN|OU)=/u.test(line));
  if (names.join() !== `CN=${clusterId}`) return `its certificate is not that of CN=${clusterId}`;
  const usages: readonly string[] = leaf.keyUsage ?? [];
  return usages.includes(EXTENDED_KEY_USAGE_IDS.clientAuth)
    ? undefined
    : "its certificate is not for client authentication";
}

function leadsTo([leaf, ...others]: readonly X509Certificate[], { authorities, now }: Trust): boolean {
  let current = leaf;
  for (let step = 0; step < MAX_CHAIN && current !== undefined; step++) {
    const below = current;
    if (!isValidAt(below, now)) return false;
    const isIssuer = (each: X509Certificate): boolean =>
      each.ca && below.checkIssued(each) && below.verify(each.publicKey);
    if (authorities.some((each) => isIssuer(each) && isValidAt(each, now))) return true;
    current = others.find((each) => isIssuer(each) && each.fingerprint256 !== below.fingerprint256);
  }
  return false;
}

function isValidAt({ validFromDate, validToDate }: X509Certificate, now: number): boolean {
  return validFromDate.getTime() <= now && now <= validToDate.getTime();
}
