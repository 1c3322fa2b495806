import { type KeyObject, sign } from "node:crypto";
import {
  SIGNED_TEXT,
  STATEMENT_TYPE,
  type Statement,
  statementSchema,
  validateExactly,
} from "@resource-broker/contract";
import { fingerprintOf, isSignedJws, readJws, signJws } from "@resource-broker/runtime";
import type { X509Certificate } from "node:crypto";
import type { AgentIdentity } from "../../identity/agent-identity.ts";
import type { Obstacle } from "../requester/steps.ts";
import { firstContactProblem } from "./first-contact.ts";
import { acceptCommand, type Pin } from "./peer-pins.ts";

export type RequesterShare = NonNullable<Statement["requester"]>;
export type ProviderShare = NonNullable<Statement["provider"]>;

/** One cluster of a pair, with its IDs at the broker and in Liqo. */
export interface Party {
  readonly clusterId: string;
  readonly liqoId: string;
}

/** What one statement is made of, beside who sends it. */
export interface StatementParts {
  readonly to: Party;
  /** The receiver's key as this cluster has pinned it; undefined: not yet. */
  readonly toKey: string | undefined;
  readonly generation: number;
  /** By the broker's clock. */
  readonly now: number;
  readonly seen: number | undefined;
  readonly isWarm: boolean;
  readonly requester: RequesterShare | undefined;
  readonly provider: ProviderShare | undefined;
}

/** Statements are sent again long before they expire. */
export const LIFETIME_MS = 15 * 60_000;
export const RESEND_MS = 5 * 60_000;
/** A statement may be made a little before the receiver's estimate of the broker's time. */
const SKEW_MS = 60_000;
const CAPABILITY = 1;

/** A statement of this cluster, signed. */
export function signStatement(own: Party, identity: AgentIdentity, parts: StatementParts): string {
  const { pem, privateKey } = identity.certificate();
  const { to, toKey, generation, now, seen, isWarm, requester, provider } = parts;
  const statement: Statement = {
    version: 1,
    kind: "peering",
    from: own.clusterId,
    to: to.clusterId,
    fromLiqoID: own.liqoId,
    toLiqoID: to.liqoId,
    fromKey: identity.key.id,
    ...(toKey === undefined ? {} : { toKey }),
    generation,
    issued: Math.floor(now),
    expires: Math.floor(now) + LIFETIME_MS,
    capability: CAPABILITY,
    certificate: pem,
    keyProof: keyProof(SIGNED_TEXT.identityKey(own.clusterId, identity.key.id), privateKey),
    ...(seen === undefined ? {} : { seen }),
    ...(isWarm ? { warm: true } : {}),
    ...(requester && { requester }),
    ...(provider && { provider }),
  };
  return signJws(statement, STATEMENT_TYPE, identity.key);
}

function keyProof(text: string, privateKey: KeyObject): string {
  const hash = privateKey.asymmetricKeyType === "ed25519" ? undefined : "sha256";
  return sign(hash, Buffer.from(text), privateKey).toString("base64");
}

/** What a received statement is checked against. */
export interface StatementContext {
  readonly own: Party & { readonly key: string };
  /** By the broker's clock. */
  readonly now: number;
  readonly pin: Pin | undefined;
  /** `--peer-fingerprints`, for this sender. */
  readonly fingerprint: string | undefined;
  readonly authorities: readonly X509Certificate[];
  /** The other cluster that this Liqo ID is pinned for. */
  readonly ownerOf: (liqoId: string) => string | undefined;
  /** True: this cluster has a Tenant or an Identity of the sender's Liqo ID. */
  readonly hasPeering: boolean;
  /** Where pins are. */
  readonly namespace: string;
}

export type StatementVerdict =
  | { readonly kind: "accepted"; readonly statement: Statement }
  /** Repeated, out of order or expired: it says nothing any more. `isBehind`: only its number is too small. */
  | { readonly kind: "old"; readonly isBehind: boolean }
  | { readonly kind: "refused"; readonly obstacle: Obstacle };

/** Reads what came through the broker. Undefined: it is no statement of this sender to this cluster. */
export function readStatement(jws: string, from: string, to: string): Statement | undefined {
  const reading = validateExactly(statementSchema, readJws(jws, STATEMENT_TYPE));
  if (!reading.ok) return undefined;
  const { value } = reading;
  const isForUs = value.from === from && value.to === to && from !== to;
  return isForUs && isSignedJws(jws, value.fromKey) ? value : undefined;
}

/** Whether the statement counts. Only a person of this cluster changes the key or the Liqo ID of a known peer. */
export function judgeStatement(statement: Statement, context: StatementContext): StatementVerdict {
  const { now, pin } = context;
  const { issued, expires, generation } = statement;
  if (expires <= now || expires - issued > 2 * LIFETIME_MS || issued > now + SKEW_MS)
    return { kind: "old", isBehind: false };
  const obstacle = keyProblem(statement, context) ?? liqoProblem(statement, context);
  if (obstacle !== undefined) return { kind: "refused", obstacle };
  const isSameKey = pin?.key === statement.fromKey;
  // The pinned one itself counts: a restarted agent gets it again.
  if (isSameKey && generation < pin.generation) return { kind: "old", isBehind: true };
  return { kind: "accepted", statement };
}

function keyProblem(statement: Statement, context: StatementContext): Obstacle | undefined {
  const { pin, fingerprint, own } = context;
  const { from, fromKey, toKey } = statement;
  const found = fingerprintOf(fromKey);
  if (toKey !== undefined && toKey !== own.key) {
    const message = `${from} has pinned another identity key of this cluster, whose fingerprint is ${fingerprintOf(own.key)}: a person there must accept it`;
    return { reason: "PeerHasOtherKey", message };
  }
  if (fingerprint === undefined) {
    const isAccepted = pin?.key === fromKey || pin?.accepted === found;
    return isAccepted ? undefined : newKeyProblem(statement, context);
  }
  if (fingerprint === found) return undefined;
  const message = `${from} signs with the key ${found}, and --peer-fingerprints names ${fingerprint}: find out which one is right before you change that`;
  return { reason: "PeerKeyChanged", message };
}

/** A key that is not pinned counts on first contact only, when the certificate vouches for it. */
function newKeyProblem(statement: Statement, context: StatementContext): Obstacle | undefined {
  const { pin, hasPeering } = context;
  const { from, fromKey } = statement;
  const found = fingerprintOf(fromKey);
  const compare = `compare it with the one in the log of the agent there (${found}), then: ${acceptCommand(from, found, context)}`;
  if (pin?.key !== undefined) {
    const message = `the identity key of ${from} is not ${fingerprintOf(pin.key)} any more: ${compare}`;
    return { reason: "PeerKeyChanged", message };
  }
  if (hasPeering) {
    const message = `the pinned identity key of ${from} is lost, and this cluster is peered with it: ${compare}`;
    return { reason: "PeerPinLost", message };
  }
  const problem = firstContactProblem(statement, context);
  if (problem === undefined) return undefined;
  return { reason: "PeerUnproven", message: `${from} does not prove its name: ${problem}; or ${compare}` };
}

function liqoProblem(statement: Statement, context: StatementContext): Obstacle | undefined {
  const { pin, own, ownerOf, namespace } = context;
  const { from, fromLiqoID, toLiqoID } = statement;
  if (toLiqoID !== own.liqoId) {
    const message = `${from} takes this cluster for ${toLiqoID} in Liqo, and it is ${own.liqoId}: wait for the next advertisement`;
    return { reason: "IdentityMismatch", message };
  }
  const owner = fromLiqoID === own.liqoId ? own.clusterId : ownerOf(fromLiqoID);
  if (owner !== undefined && owner !== from) {
    const message = `${from} claims the Liqo ID ${fromLiqoID}, which is ${owner}'s: one of them must install Liqo with another --cluster-id`;
    return { reason: "LiqoIDTaken", message };
  }
  if (pin?.liqoId === undefined || pin.liqoId === fromLiqoID) return undefined;
  const patch = `{"data":{"liqoID":"${fromLiqoID}"}}`;
  const remedy = `kubectl patch configmap ${pin.name} -n ${namespace} --type merge -p '${patch}'`;
  const message = `${from} was ${pin.liqoId} in Liqo and is now ${fromLiqoID}; if Liqo was installed anew there: ${remedy}`;
  return { reason: "PeerLiqoIDChanged", message };
}
