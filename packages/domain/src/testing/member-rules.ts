import type { Advertisement } from "../advertisement/advertisement.ts";
import type { Command } from "../ledger/command.ts";
import type { MemberEvent } from "../ledger/event.ts";
import type { Member } from "../ledger/member.ts";
import { isLivePhase, type LedgerModel } from "./ledger-model.ts";

/** How a command about members is remembered: whatever happens to a member must have been asked for. */
export function askedOfMember(command: Command): string[] {
  switch (command.kind) {
    case "enroll":
      return [enrolment(command)];
    case "accept":
    case "bind":
      return [`${command.kind} ${command.clusterId} ${command.key}`];
    case "evict":
      return [`evict ${command.clusterId}`];
    case "invite": {
      const invitation = `invite ${command.clusterId} ${command.tokenId}`;
      return command.isReplacing ? [invitation, `evict ${command.clusterId}`] : [invitation];
    }
    default:
      return [];
  }
}

function enrolment({
  tokenId,
  secretHash,
  clusterId,
  key,
}: Omit<Command & { kind: "enroll" }, "kind">): string {
  return `enroll ${tokenId} ${secretHash} ${clusterId} ${key}`;
}

interface Asked {
  readonly has: (what: string) => boolean;
}

/** What is wrong with a change of a member, given all that came before it. */
export function wrongMember(model: LedgerModel, event: MemberEvent, asked: Asked): string | undefined {
  const { clusterId } = event.member;
  const before: Member = model.members.get(clusterId) ?? { clusterId, since: 0 };
  const rules = RULES[event.kind]({ model, before, after: event.member, at: event.at, asked });
  const broken = rules.find(([isKept]) => !isKept);
  return broken && `${clusterId} (${event.kind}): ${broken[1]}`;
}

interface MemberChange {
  readonly model: LedgerModel;
  readonly before: Member;
  readonly after: Member;
  readonly at: number;
  readonly asked: Asked;
}

type Rule = readonly [isKept: boolean, otherwise: string];

const RULES: Readonly<Record<MemberEvent["kind"], (change: MemberChange) => readonly Rule[]>> = {
  "member-invited": ({ model, before, after, asked }) => [
    [after.key === undefined && after.invitation?.key === undefined, "is no invitation"],
    [before.evictedAt === after.evictedAt, "the eviction is forgotten"],
    [before.key === undefined, "is invited while its key is bound"],
    [after.evictedAt !== undefined || !isAtWork(model, after), "is invited while an agent is at work"],
    [tokenIsNew(model, after), "has the token of another"],
    [asked.has(`invite ${after.clusterId} ${after.invitation?.tokenId}`), "invited unasked"],
  ],
  "member-enrolled": (change) => [
    [change.before.invitation?.key === undefined, "the token is used a second time"],
    [change.at < (change.before.invitation?.expiresAt ?? 0), "the token has expired"],
    [isShown(change), "nobody showed the secret"],
    [bindsRightKey(change), "the wrong key is bound"],
  ],
  "member-accepted": ({ before, after, asked }) => [
    [before.invitation?.key === after.key && after.evictedAt === undefined, "the key did not wait"],
    [asked.has(`accept ${after.clusterId} ${after.key}`), "no admin accepted it"],
  ],
  "member-bound": ({ before, after, asked }) => [
    [before.key === undefined, "a second key is bound"],
    [before.evictedAt === undefined, "bound after its eviction"],
    [asked.has(`bind ${after.clusterId} ${after.key}`), "no call showed that key"],
  ],
  "member-evicted": ({ after, asked }) => [
    [
      after.key === undefined && after.invitation === undefined && after.evictedAt !== undefined,
      "is not out",
    ],
    [asked.has(`evict ${after.clusterId}`), "evicted unasked"],
  ],
};

function isAtWork(model: LedgerModel, { clusterId }: Member): boolean {
  if (model.newest.has(clusterId)) return true;
  for (const { requester, provider, phase } of model.entries.values())
    if (isLivePhase(phase) && [requester, provider].includes(clusterId)) return true;
  return false;
}

function tokenIsNew(model: LedgerModel, { invitation }: Member): boolean {
  const tokens = [...model.members.values()].map((member) => member.invitation?.tokenId);
  return invitation !== undefined && !tokens.includes(invitation.tokenId);
}

function isShown({ before: { clusterId, invitation }, after, asked }: MemberChange): boolean {
  const key = after.invitation?.key;
  if (invitation === undefined || key === undefined) return false;
  const { tokenId, secretHash } = invitation;
  return asked.has(enrolment({ tokenId, secretHash, clusterId, key }));
}

function bindsRightKey({ before, after }: MemberChange): boolean {
  if (after.invitation?.needsConfirmation === true)
    return after.key === before.key && after.evictedAt === before.evictedAt;
  const isFree = before.key === undefined || before.key === after.key;
  return isFree && after.key === after.invitation?.key && after.evictedAt === undefined;
}

/** Why this advertisement should not count: its cluster was evicted, or another one has its Liqo ID. */
export function wrongAdvertiser(model: LedgerModel, { clusterId, liqo }: Advertisement): string | undefined {
  if (model.isEvicted(clusterId)) return `${clusterId} advertises though it was evicted`;
  if (liqo === undefined) return undefined;
  const claims = [...model.newest].filter(
    ([id, { advertisement }]) => advertisement.liqo?.clusterId === liqo.clusterId && !model.isEvicted(id),
  );
  const latest = Math.max(...claims.map(([, { receivedAt }]) => receivedAt));
  const holders = claims.filter(([, { receivedAt }]) => receivedAt === latest).map(([id]) => id);
  const isFree = holders.length === 0 || holders.includes(clusterId);
  return isFree ? undefined : `${clusterId} advertises the Liqo ID of ${holders.join(", ")}`;
}
