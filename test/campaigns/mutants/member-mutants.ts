import { type Mutant, SIMULATION, testFile } from "./mutant.ts";

const LEDGER = "packages/domain/src/ledger";
const MEMBERS = `${LEDGER}/decide-member.ts`;
const MODEL = testFile(`${LEDGER}/ledger.model.test.ts`);

/** Who may join, under which name, and who is out. */
export const MEMBER_MUTANTS: readonly Mutant[] = [
  {
    name: "gives a certificate to another agent with a used token",
    file: MEMBERS,
    find: "  if ((invitation.key ?? key) !== key)",
    replace: '  if ((invitation.key ?? key) === "")',
    caughtBy: SIMULATION,
  },
  {
    name: "takes a token that has expired",
    file: MEMBERS,
    find: "  if (isWaiting || now < expiresAt) return undefined;",
    replace: "  if (isWaiting || now > 0) return undefined;",
    caughtBy: MODEL,
  },
  {
    name: "takes a token without its secret",
    file: MEMBERS,
    find: " || invitation.secretHash !== secretHash)",
    replace: ")",
    caughtBy: SIMULATION,
  },
  {
    name: "serves requests of an evicted cluster",
    file: `${LEDGER}/decide-reserve.ts`,
    find: "    refuseEvicted(ledger, command.requester) ??\n",
    replace: "",
    caughtBy: SIMULATION,
  },
  {
    name: "lends from an evicted cluster",
    file: "packages/domain/src/scheduling/filters.ts",
    find: "cordon !== undefined || evictedAt !== undefined,",
    replace: "cordon !== undefined || evictedAt === 0,",
    caughtBy: SIMULATION,
  },
  {
    name: "lets a second cluster claim a Liqo ID",
    file: `${LEDGER}/liqo-claims.ts`,
    find: "holder === undefined || holder === clusterId)",
    replace: 'holder === undefined || holder !== "")',
    caughtBy: MODEL,
  },
  {
    name: "leaves an evicted cluster its identity key",
    file: MEMBERS,
    find: "  const member = { clusterId, evictedAt: now, since: now };",
    replace: '  const member = { clusterId, key: "A".repeat(43), evictedAt: now, since: now };',
    caughtBy: SIMULATION,
  },
  {
    name: "binds the key of an agent that an admin must accept first",
    file: MEMBERS,
    find: "    ...(invitation.needsConfirmation ? member : { clusterId, key }),",
    replace: "    ...{ clusterId, key },",
    caughtBy: testFile(`${LEDGER}/decide-member.test.ts`),
  },
  {
    name: "forgets at a restart who was evicted",
    file: "packages/broker/src/store/sqlite/read-ledger.ts",
    find: "    members: [...all(MEMBER)],",
    replace: "    members: [...all(MEMBER)].filter(({ evictedAt }) => evictedAt === undefined),",
    caughtBy: testFile("packages/broker/src/store/sqlite/sqlite-store.test.ts"),
  },
  {
    name: "passes on a request for a certificate in which others read another one",
    file: "packages/runtime/src/x509/csr.ts",
    find: "  if (withoutSpaces(pem) !== withoutSpaces(toPem(LABEL, block.der)))",
    replace: '  if (pem === "")',
    caughtBy: testFile("packages/runtime/src/x509/csr.test.ts"),
  },
  {
    name: "lets strangers keep an invited agent out",
    file: "packages/broker/src/interface/http/enrollment-rate.ts",
    find: "    tokenId === undefined\n",
    replace: '    tokenId !== ""\n',
    caughtBy: testFile("packages/broker/src/interface/http/enrollment-rate.test.ts"),
  },
  {
    name: "forgets what a peer said last, so that a replay undoes it",
    file: "packages/agent/src/liqo/relay/exchange.ts",
    find: "} else if (isNew) await pins.change(clusterId, { generation });",
    replace: "}",
    caughtBy: testFile("packages/agent/src/liqo/relay/relay-data-plane.test.ts"),
  },
  {
    name: "ends another cluster's Tenant of the same Liqo ID",
    file: "packages/agent/src/liqo/relay/plan-tenancy.ts",
    find: " && tenant.metadata.labels?.[PEER_LABEL] === clusterId;",
    replace: ";",
    caughtBy: testFile("packages/agent/src/liqo/relay/plan-tenancy.test.ts"),
  },
  {
    name: "lets a requester that was stopped in again",
    file: "packages/agent/src/liqo/relay/plan-tenancy.ts",
    find: "  if (isStopped(tenant)) return planStopped(observed, tenant);\n",
    replace: "",
    caughtBy: testFile("packages/agent/src/liqo/relay/plan-tenancy.test.ts"),
  },
  {
    name: "has Liqo sign what is no nonce",
    file: "packages/agent/src/liqo/relay/share-checks.ts",
    find: "  return bytes.length === NONCE_BYTES && bytes",
    replace: "  return bytes",
    caughtBy: testFile("packages/agent/src/liqo/relay/share-checks.test.ts"),
  },
  {
    name: "pins a key on first contact that the certificate does not vouch for",
    file: "packages/agent/src/liqo/relay/first-contact.ts",
    find: '  if (verify(hash, text, publicKey, Buffer.from(statement.keyProof, "base64"))) return undefined;',
    replace: '  if (statement.keyProof !== "") return undefined;',
    caughtBy: testFile("packages/agent/src/liqo/relay/statement.test.ts"),
  },
];
