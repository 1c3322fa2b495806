import { Fault, formatTime, parseDuration } from "@resource-broker/base";
import {
  acceptanceSchema,
  evictionSchema,
  invitationRequestSchema,
  LIMIT,
  type MemberDTO,
  PATH,
} from "@resource-broker/contract";
import { type Instant, type Member, memberState } from "@resource-broker/domain";
import { fingerprintOf } from "@resource-broker/runtime";
import { checked, faultOf } from "../../shared/checked.ts";
import { type Call, ok, type PlainAnswer, type Route, template } from "../route.ts";
import type { RouteContext } from "./context.ts";
import { signerOf } from "./join.ts";

const DEFAULT_LIFETIME = "1h";

/** Who was invited, who has joined, and who no longer may call. */
export function memberRoutes(context: RouteContext): readonly Route[] {
  const { engine, joining } = context;
  const submit = async (command: Parameters<typeof engine.submit>[0]): Promise<MemberDTO> => {
    const reply = await engine.submit(command);
    if (reply.kind !== "member-set") throw faultOf(reply);
    return renderMember(reply.member, engine.now());
  };

  const invite = async ({ caller, body }: Call): Promise<PlainAnswer> => {
    const order = checked(invitationRequestSchema, body);
    const { clusterID, tokenID, secretHash, lifetime = DEFAULT_LIFETIME, confirm, replace } = order;
    signerOf(context);
    if (joining.reservedNames().includes(clusterID))
      throw new Fault("invalid", `clusterID: ${clusterID} is reserved for the broker: choose another ID`);
    if (clusterID === caller.clusterId)
      throw new Fault("invalid", `clusterID: ${clusterID} is your own name as an admin: choose another ID`);
    const parsed = parseDuration(lifetime);
    const member = await submit({
      kind: "invite",
      by: caller,
      clusterId: clusterID,
      tokenId: tokenID,
      secretHash,
      lifetimeMs: parsed.ok ? parsed.ms : 0,
      needsConfirmation: confirm === true,
      isReplacing: replace === true,
    });
    return { status: 201, body: member };
  };

  const list = (): PlainAnswer => {
    const members = [...engine.ledger.members.values()].toSorted((a, b) =>
      a.clusterId < b.clusterId ? -1 : 1,
    );
    return ok(members.map((member) => renderMember(member, engine.now())));
  };

  /** Accepts the key whose fingerprint the admin has compared; the ledger says why it cannot be. */
  const accept = async ({ caller, name, body }: Call): Promise<PlainAnswer> => {
    const { fingerprint } = checked(acceptanceSchema, body);
    const member = engine.ledger.members.get(name);
    const keys = [member?.invitation?.key, member?.key].filter((key) => key !== undefined);
    const key = keys.find((each) => fingerprintOf(each) === fingerprint) ?? "";
    return ok(await submit({ kind: "accept", by: caller, clusterId: name, key }));
  };

  const evict = async ({ caller, name, body }: Call): Promise<PlainAnswer> => {
    const { reason } = body === undefined ? {} : checked(evictionSchema, body);
    const why = reason === undefined ? {} : { why: reason };
    return ok(await submit({ kind: "evict", by: caller, clusterId: name, ...why }));
  };

  return [
    { method: "GET", path: PATH.members, access: "admin", handle: list },
    {
      method: "POST",
      path: PATH.invitations,
      access: "admin",
      body: { limit: LIMIT.bodyBytes },
      handle: invite,
    },
    {
      method: "POST",
      path: template(PATH.acceptMember, "clusterID"),
      access: "admin",
      body: { limit: LIMIT.bodyBytes },
      handle: accept,
    },
    {
      method: "POST",
      path: template(PATH.evictMember, "clusterID"),
      access: "admin",
      body: { limit: LIMIT.bodyBytes, isOptional: true },
      handle: evict,
    },
  ];
}

function renderMember(member: Member, now: Instant): MemberDTO {
  const { clusterId, key = member.invitation?.key, invitation, since } = member;
  return {
    clusterID: clusterId,
    state: memberState(member, now),
    ...(key === undefined ? {} : { fingerprint: fingerprintOf(key) }),
    ...(invitation === undefined
      ? {}
      : {
          tokenID: invitation.tokenId,
          invitedBy: invitation.by,
          expiresAt: formatTime(invitation.expiresAt),
        }),
    since: formatTime(since),
  };
}
