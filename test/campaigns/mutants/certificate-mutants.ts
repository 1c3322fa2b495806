import { type Mutant, testFile } from "./mutant.ts";

const HTTP = "packages/broker/src/interface/http";
const CERTIFICATES = "packages/runtime/src/certificates";
const LIST_TEST = testFile(`${CERTIFICATES}/revocation-list.test.ts`);
const FOLDER_TEST = testFile(`${CERTIFICATES}/certificate-folder.test.ts`);

/** Who is trusted, and who no longer. */
export const CERTIFICATE_MUTANTS: readonly Mutant[] = [
  {
    name: "takes a serial number that any authority revoked for revoked",
    file: `${HTTP}/identity.ts`,
    find: "serials.has(certificate.serialNumber) && isProvenIssuer(certificate, issuer)",
    replace: "serials.has(certificate.serialNumber)",
    caughtBy: testFile(`${HTTP}/mutual-tls.test.ts`),
  },
  {
    name: "takes authorities of one name for one",
    file: `${HTTP}/identity.ts`,
    find: "serials.has(certificate.serialNumber) && isProvenIssuer(certificate, issuer)",
    replace: "serials.has(certificate.serialNumber) && isNamedIssuer(certificate, issuer)",
    caughtBy: testFile(`${HTTP}/certificates/trust.test.ts`),
  },
  {
    name: "skips a damaged revocation list",
    file: `${CERTIFICATES}/revocation-list.ts`,
    find: "    if (named === undefined) return undefined;",
    replace: "    if (list.issuer.name.length > 0) return undefined;",
    caughtBy: LIST_TEST,
  },
  {
    name: "takes a list with a damaged key ID for one of a retired authority",
    file: `${CERTIFICATES}/revocation-list.ts`,
    find: "keyId === issuer.keyId || (hasName && isAlike(keyId, issuer.keyId))",
    replace: "keyId === issuer.keyId || (!hasName && isAlike(keyId, issuer.keyId))",
    caughtBy: LIST_TEST,
  },
  {
    name: "revokes nobody any more when its list vanishes",
    file: `${CERTIFICATES}/certificate-folder.ts`,
    find: "kept = older.filter((list) => list.serials.size > 0 && isTrusted(list, found));",
    replace: "kept = older.filter((list) => list.serials.size === 0 && isTrusted(list, found));",
    caughtBy: FOLDER_TEST,
  },
  {
    name: "lets a list of another authority un-revoke",
    file: `${CERTIFICATES}/revocation-list.ts`,
    find: "known.filter(({ issuer }) => !lists.some((list) => isOfSameKey(list, issuer)))",
    replace: "known.filter(() => lists.length === 0)",
    caughtBy: FOLDER_TEST,
  },
  {
    name: "keeps a vanished list only while ca.crt is the same",
    file: `${CERTIFICATES}/certificate-folder.ts`,
    find: "const older = withoutSuccessor(known, found.revocations);",
    replace:
      "const older = found.files.ca === before.files.ca ? withoutSuccessor(known, found.revocations) : [];",
    caughtBy: FOLDER_TEST,
  },
  {
    name: "forgets the list of an authority that is out of ca.crt for a moment",
    file: `${CERTIFICATES}/certificate-folder.ts`,
    find: "known = [...found.revocations, ...older];",
    replace: "known = [...found.revocations, ...kept];",
    caughtBy: FOLDER_TEST,
  },
];
