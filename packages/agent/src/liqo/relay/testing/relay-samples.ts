import {
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";
import {
  authorityName,
  generateIdentityKey,
  inMemoryAuthority,
  makeCsr,
  makeLeafCertificate,
  SUBJECT_ATTRIBUTE,
} from "@resource-broker/runtime";
import type { AgentIdentity } from "../../../identity/agent-identity.ts";
import type { RequesterShare, StatementParts } from "../statement.ts";

export const NOW = Date.UTC(2026, 6, 1, 10);
const DAY_MS = 86_400_000;

export const ROME = { clusterId: "rome", liqoId: "cool-rome" };
export const PARIS = { clusterId: "paris", liqoId: "calm-paris" };

/** The authority of a fleet, and the identities of its agents. */
export function aFleet(now = NOW) {
  const authority = inMemoryAuthority({ commonName: "fleet", now: () => now, randomBytes });
  const authorities = [new X509Certificate(authority.cert)];
  const identityOf = (
    commonName: string,
    order: {
      isClient?: boolean;
      isServer?: boolean;
      organizationalUnits?: readonly string[];
      validForMs?: number;
    } = {},
  ): AgentIdentity => {
    const { cert, key } = authority.issue({ commonName, isClient: true, validForMs: DAY_MS, ...order });
    const certificate = { pem: cert, privateKey: createPrivateKey(key) };
    return { key: generateIdentityKey(), certificate: () => certificate, authorities: () => authorities };
  };
  return { authorities, identityOf };
}

export function theParts(parts: Partial<StatementParts> = {}): StatementParts {
  return {
    to: PARIS,
    toKey: undefined,
    generation: NOW,
    now: NOW,
    seen: undefined,
    isWarm: false,
    requester: undefined,
    provider: undefined,
    ...parts,
  };
}

export function aNonce(): string {
  return randomBytes(64).toString("base64");
}

const KUBERNETES = {
  name: authorityName("kubernetes"),
  randomBytes,
  ...generateKeyPairSync("ec", { namedCurve: "P-256" }),
};

/** A certificate as an API server signs it for Liqo; PEM in base64. */
export function liqoCertificate(
  {
    commonName = "cool-rome",
    organizations = ["liqo.io"],
  }: { commonName?: string; organizations?: string[] },
  publicKey: KeyObject,
): string {
  const validity = { notBefore: NOW - DAY_MS, notAfter: NOW + DAY_MS };
  const order = { commonName, organizations, usages: ["clientAuth"], publicKey, ...validity } as const;
  return Buffer.from(makeLeafCertificate(order, KUBERNETES).toString()).toString("base64");
}

/** Liqo's keys of one cluster, and what is made with them. */
export function liqoKeysOf(liqoId: string, type: "ed25519" | "ec" = "ed25519") {
  const { publicKey, privateKey } =
    type === "ec" ? generateKeyPairSync("ec", { namedCurve: "P-256" }) : generateKeyPairSync("ed25519");
  const subject = [
    [SUBJECT_ATTRIBUTE.organization, "liqo.io"],
    [SUBJECT_ATTRIBUTE.commonName, liqoId],
  ] as const;
  const csrFor = (attributes: Parameters<typeof makeCsr>[0] = subject): string =>
    Buffer.from(makeCsr(attributes, { publicKey, privateKey })).toString("base64");
  const signed = (nonce: string): string =>
    sign(type === "ec" ? "sha256" : undefined, Buffer.from(nonce), privateKey).toString("base64");
  const der = publicKey.export({ type: "spki", format: "der" }).toString("base64");
  const shareFor = (nonce: string): RequesterShare => ({
    wants: true,
    nonce,
    signedNonce: signed(nonce),
    publicKey: der,
    csr: csrFor(),
  });
  return { publicKey, privateKey, publicKeyDer: der, csrFor, signed, shareFor };
}
