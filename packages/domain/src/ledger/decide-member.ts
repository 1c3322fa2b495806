import type { ClusterId, Instant } from "../reservation/ids.ts";
import {
  type Accept,
  type Bind,
  type Enroll,
  type Evict,
  type Invite,
  type MemberCommand,
  type Outcome,
  rejected,
} from "./command.ts";
import { pendingOf } from "../queue/waiting.ts";
import type { LedgerEvent, MemberEvent } from "./event.ts";
import type { LedgerView } from "./ledger.ts";
import {
  ACCEPTED_TOKEN_MS,
  type Invitation,
  isEvicted,
  MAX_INVITATION_MS,
  MAX_MEMBERS,
  type Member,
  memberOfToken,
} from "./member.ts";

export function decideMember(ledger: LedgerView, command: MemberCommand, now: Instant): Outcome {
  switch (command.kind) {
    case "invite":
      return decideInvite(ledger, command, now);
    case "enroll":
      return decideEnroll(ledger, command, now);
    case "accept":
      return decideAccept(ledger, command, now);
    case "evict":
      return decideEvict(ledger, command, now);
    case "bind":
      return decideBind(ledger, command, now);
  }
}

/** The rejection of a command in which one of these clusters takes part, if it was evicted. */
export function refuseEvicted(ledger: LedgerView, ...clusterIds: readonly ClusterId[]): Outcome | undefined {
  const evicted = clusterIds.find((clusterId) => isEvicted(ledger, clusterId));
  if (evicted === undefined) return undefined;
  return rejected(
    "wrong-instance",
    `${evicted} was evicted; an admin invites it, and its agent joins anew: brokerctl invite ${evicted}`,
  );
}

function decideInvite(ledger: LedgerView, command: Invite, now: Instant): Outcome {
  const { by, clusterId } = command;
  const member = ledger.members.get(clusterId);
  if (by.isAdmin && member !== undefined && isRepeated(member, command)) return unchanged(member);
  const problem = unacceptableInvitation(ledger, command) ?? tooMany(ledger, clusterId);
  if (problem !== undefined) return problem;
  const isReplaced = isKnown(ledger, clusterId);
  const evictedAt = isReplaced ? now : member?.evictedAt;
  const invited: Member = {
    clusterId,
    ...(evictedAt === undefined ? {} : { evictedAt }),
    invitation: invitationOf(command, now),
    since: now,
  };
  const eviction = isReplaced ? evict(ledger, command, now) : [];
  return changed({ kind: "member-invited", at: now, member: invited }, eviction);
}

function invitationOf(command: Invite, now: Instant): Invitation {
  const { by, tokenId, secretHash, lifetimeMs, needsConfirmation } = command;
  return {
    tokenId,
    secretHash,
    by: by.clusterId,
    at: now,
    expiresAt: now + lifetimeMs,
    needsConfirmation,
  };
}

/** The reply to the first call was lost. */
function isRepeated({ invitation }: Member, { tokenId, secretHash }: Invite): boolean {
  return invitation?.tokenId === tokenId && invitation.secretHash === secretHash;
}

function unacceptableInvitation(ledger: LedgerView, command: Invite): Outcome | undefined {
  const { by, clusterId, tokenId, lifetimeMs, isReplacing } = command;
  if (!by.isAdmin) return rejected("forbidden", "only an admin may invite a cluster");
  if (!Number.isSafeInteger(lifetimeMs) || lifetimeMs <= 0 || lifetimeMs > MAX_INVITATION_MS)
    return rejected("invalid", "an invitation lasts more than 0 s and at most 7 days (168h)");
  if (memberOfToken(ledger, tokenId) !== undefined)
    return rejected("ledger-conflict", `token ${tokenId} is in use: make a new one`);
  if (isReplacing || !isKnown(ledger, clusterId)) return undefined;
  return rejected(
    "ledger-conflict",
    `${clusterId} is in use; to evict its agent and invite another: brokerctl invite ${clusterId} --replace`,
  );
}

/** An agent of this cluster may be at work. After an eviction none is. */
function isKnown({ members, accounts }: LedgerView, clusterId: ClusterId): boolean {
  const member = members.get(clusterId);
  if (member?.key !== undefined) return true;
  const account = accounts.get(clusterId);
  if (member?.evictedAt !== undefined || account === undefined) return false;
  return account.advertisement !== undefined || account.asProvider.size > 0 || account.asRequester.size > 0;
}

function tooMany({ members }: LedgerView, clusterId: ClusterId): Outcome | undefined {
  if (members.size < MAX_MEMBERS || members.has(clusterId)) return undefined;
  return rejected(
    "quota-exceeded",
    `the broker keeps at most ${MAX_MEMBERS} members, evicted ones included: use the ID of an evicted or expired one (brokerctl get members)`,
  );
}

/**
 * The first use binds the token to the key, before a certificate is signed. Whoever does not know the secret learns nothing
 * about the token.
 */
function decideEnroll(ledger: LedgerView, command: Enroll, now: Instant): Outcome {
  const { tokenId, secretHash, clusterId, key } = command;
  const member = memberOfToken(ledger, tokenId);
  const invitation = member?.invitation;
  if (invitation === undefined || member === undefined || invitation.secretHash !== secretHash)
    return rejected(
      "no-certificate",
      `the token is unknown or wrong; an admin makes a new one: brokerctl invite ${clusterId}`,
    );
  const problem = takenByOther(member, invitation, command) ?? expired(member, invitation, now);
  if (problem !== undefined) return problem;
  if (invitation.key === key) return enrolled(member, []);
  const used: Member = {
    ...(invitation.needsConfirmation ? member : { clusterId, key }),
    invitation: { ...invitation, key },
    since: now,
  };
  return enrolled(used, [{ kind: "member-enrolled", at: now, member: used }]);
}

/** The rejection of a token that is for another cluster, or of whose cluster another agent has the key. */
function takenByOther(
  member: Member,
  invitation: Invitation,
  { clusterId, key }: Enroll,
): Outcome | undefined {
  const again = `brokerctl invite ${member.clusterId} --replace`;
  if (member.clusterId !== clusterId)
    return rejected(
      "no-certificate",
      `the token invites ${member.clusterId}, not ${clusterId}: correct the ID`,
    );
  if ((invitation.key ?? key) !== key)
    return rejected(
      "wrong-instance",
      `the token was used by another agent; if that was none of yours: ${again}`,
    );
  if ((member.key ?? key) === key) return undefined;
  return rejected("wrong-instance", `${clusterId} is another agent meanwhile; to replace it: ${again}`);
}

function expired(
  { clusterId, key }: Member,
  { key: usedBy, expiresAt }: Invitation,
  now: Instant,
): Outcome | undefined {
  // One that waits for an admin asks as long as it takes.
  const isWaiting = usedBy !== undefined && key === undefined;
  if (isWaiting || now < expiresAt) return undefined;
  return rejected(
    "no-certificate",
    `the token has expired; an admin makes a new one: brokerctl invite ${clusterId}`,
  );
}

function enrolled(member: Member, events: readonly MemberEvent[]): Outcome {
  const { clusterId, key } = member;
  return { events, reply: { kind: "enrolled", clusterId, isConfirmed: key !== undefined } };
}

function decideAccept(ledger: LedgerView, { by, clusterId, key }: Accept, now: Instant): Outcome {
  if (!by.isAdmin) return rejected("forbidden", "only an admin may accept a cluster");
  const member = ledger.members.get(clusterId);
  if (member?.key === key) return unchanged(member);
  const { invitation } = member ?? {};
  if (invitation?.key === undefined)
    return rejected(
      "not-found",
      `no agent of ${clusterId} waits to be accepted; invite it: brokerctl invite ${clusterId} --confirm`,
    );
  if (invitation.key !== key)
    return rejected(
      "wrong-instance",
      `the agent that waits as ${clusterId} has another fingerprint: compare it with the agent's log, or invite again: brokerctl invite ${clusterId} --confirm`,
    );
  const expiresAt = Math.max(invitation.expiresAt, now + ACCEPTED_TOKEN_MS);
  const accepted: Member = { clusterId, key, invitation: { ...invitation, expiresAt }, since: now };
  return changed({ kind: "member-accepted", at: now, member: accepted });
}

function decideEvict(ledger: LedgerView, command: Evict, now: Instant): Outcome {
  const { by, clusterId } = command;
  if (!by.isAdmin) return rejected("forbidden", "only an admin may evict a cluster");
  const member = ledger.members.get(clusterId);
  if (member === undefined && !ledger.accounts.has(clusterId))
    return rejected("not-found", `cluster ${clusterId} is unknown: see brokerctl get members`);
  const isDone =
    member?.evictedAt !== undefined && member.key === undefined && member.invitation === undefined;
  if (isDone) return unchanged(member);
  const [event, ...leaving] = evict(ledger, command, now);
  const reply = { kind: "member-set", member: event.member } as const;
  return tooMany(ledger, clusterId) ?? { events: [event, ...leaving], reply };
}

/** The requests of the cluster leave the queue. */
function evict(ledger: LedgerView, command: Evict | Invite, now: Instant): [MemberEvent, ...LedgerEvent[]] {
  const { by, clusterId, ...rest } = command;
  const why = rest.kind === "evict" ? rest.why : "replaced by an invitation";
  const member = { clusterId, evictedAt: now, since: now };
  const reason = { reason: "ReleasedByAdmin", message: "its cluster was evicted" } as const;
  const leaving = [...pendingOf(ledger.waiting, clusterId)].map(
    ({ id }): LedgerEvent => ({ kind: "unqueued", at: now, id, ...reason }),
  );
  const noted = why === undefined ? {} : { why };
  return [{ kind: "member-evicted", at: now, member, by: by.clusterId, ...noted }, ...leaving];
}

/** Trust on first use: for agents that have a certificate but were never invited. */
function decideBind(ledger: LedgerView, { clusterId, key }: Bind, now: Instant): Outcome {
  const refusal = refuseEvicted(ledger, clusterId);
  if (refusal !== undefined) return refusal;
  const member = ledger.members.get(clusterId);
  if (member?.key === key) return unchanged(member);
  if (member?.key !== undefined)
    return rejected(
      "wrong-instance",
      `${clusterId} is another agent (another identity key is bound); to replace it: brokerctl invite ${clusterId} --replace`,
    );
  if (member !== undefined && waitsForAdmin(member, now))
    return rejected(
      "wrong-instance",
      `an admin must accept the agent of ${clusterId} first: brokerctl accept ${clusterId}`,
    );
  const bound: Member = { ...member, clusterId, key, since: now };
  return tooMany(ledger, clusterId) ?? changed({ kind: "member-bound", at: now, member: bound });
}

/** The identity key of this cluster is for an admin to confirm, not for the first call to set. */
function waitsForAdmin({ invitation }: Member, now: Instant): boolean {
  if (invitation?.needsConfirmation !== true) return false;
  return invitation.key !== undefined || now < invitation.expiresAt;
}

function changed(event: MemberEvent, before: readonly LedgerEvent[] = []): Outcome {
  return { events: [...before, event], reply: { kind: "member-set", member: event.member } };
}

function unchanged(member: Member): Outcome {
  return { events: [], reply: { kind: "member-set", member } };
}
