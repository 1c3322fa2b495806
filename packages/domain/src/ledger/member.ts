import type { ClusterId, Instant } from "../reservation/ids.ts";

/** An admin's invitation. The token's secret is known to the invited cluster only: the ledger keeps its hash. */
export interface Invitation {
  readonly tokenId: string;
  /** SHA-256 of the secret, hexadecimal. */
  readonly secretHash: string;
  readonly by: string;
  readonly at: Instant;
  readonly expiresAt: Instant;
  /** True: an admin must accept the identity key that used the token. */
  readonly needsConfirmation: boolean;
  /** The identity key that used it (base64url); absent: none has. */
  readonly key?: string;
}

/** A cluster that was invited, evicted, or whose identity key is bound. */
export interface Member {
  readonly clusterId: ClusterId;
  /** The bound identity key (base64url); absent: none is. */
  readonly key?: string;
  /** Every call of this cluster is refused since then. */
  readonly evictedAt?: Instant;
  readonly invitation?: Invitation;
  /** When it got into its present state. */
  readonly since: Instant;
}

/** The most members a ledger keeps; evicted ones count. */
export const MAX_MEMBERS = 10_000;
/** The longest time a token can be used. */
export const MAX_INVITATION_MS = 7 * 24 * 60 * 60 * 1000;
/** After an admin accepted it, an agent has at least so long to fetch its certificate. */
export const ACCEPTED_TOKEN_MS = 60 * 60 * 1000;

type MemberState = "invited" | "unconfirmed" | "expired" | "joined" | "evicted";

export function memberState({ key, evictedAt, invitation }: Member, now: Instant): MemberState {
  if (key !== undefined) return "joined";
  if (invitation?.key !== undefined) return "unconfirmed";
  if (invitation !== undefined && now < invitation.expiresAt) return "invited";
  return evictedAt === undefined ? "expired" : "evicted";
}

interface Members {
  readonly members: ReadonlyMap<ClusterId, Member>;
}

export function memberOfToken({ members }: Members, tokenId: string): Member | undefined {
  for (const member of members.values()) if (member.invitation?.tokenId === tokenId) return member;
  return undefined;
}

export function isEvicted({ members }: Members, clusterId: ClusterId): boolean {
  return members.get(clusterId)?.evictedAt !== undefined;
}
