import { type Invitation, isClusterId, MAX_MEMBERS, type Member } from "@resource-broker/domain";

const IDENTITY_KEY = /^[A-Za-z0-9_-]{43}$/;
const SECRET_HASH = /^[0-9a-f]{64}$/;

/** The first contradiction in the members as text, or undefined: a wrong one could let in an agent that was evicted. */
export function memberContradiction(members: readonly Member[]): string | undefined {
  if (members.length > MAX_MEMBERS) return `there are ${members.length} members`;
  const tokens = new Map<string, string>();
  for (const member of members) {
    const wrong = wrongMember(member) ?? tokenTaken(member, tokens);
    if (wrong !== undefined) return `member ${member.clusterId} ${wrong}`;
  }
  return undefined;
}

function wrongMember(member: Member): string | undefined {
  const { clusterId, key, evictedAt, invitation, since } = member;
  if (!isClusterId(clusterId)) return "has no cluster ID";
  if (!isInstant(since) || !isInstant(evictedAt ?? 0)) return "has an impossible time";
  return wrongKey(member) ?? (invitation && (wrongInvitation(invitation) ?? wrongUse(invitation, key)));
}

function wrongKey({ key, evictedAt, invitation }: Member): string | undefined {
  if (key === undefined)
    return evictedAt === undefined && invitation === undefined
      ? "was neither invited nor evicted, and has no key"
      : undefined;
  if (!IDENTITY_KEY.test(key)) return "has a key that is none";
  return evictedAt === undefined ? undefined : "was evicted, yet its key is bound";
}

function wrongInvitation({ tokenId, secretHash, at, expiresAt }: Invitation): string | undefined {
  if (tokenId === "" || !SECRET_HASH.test(secretHash)) return "has a damaged invitation";
  const isInTime = isInstant(at) && isInstant(expiresAt) && at < expiresAt;
  return isInTime ? undefined : "has an invitation of impossible time";
}

function wrongUse({ key, needsConfirmation }: Invitation, bound: string | undefined): string | undefined {
  if (key === undefined) return undefined;
  if (!IDENTITY_KEY.test(key)) return "has a damaged invitation";
  const isBound = bound === key || (needsConfirmation && bound === undefined);
  return isBound ? undefined : "does not have the key that used its invitation";
}

function tokenTaken({ clusterId, invitation }: Member, tokens: Map<string, string>): string | undefined {
  if (invitation === undefined) return undefined;
  const other = tokens.get(invitation.tokenId);
  tokens.set(invitation.tokenId, clusterId);
  return other === undefined ? undefined : `has the token of ${other}`;
}

function isInstant(at: number): boolean {
  return Number.isSafeInteger(at) && at >= 0;
}
