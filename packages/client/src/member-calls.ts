import {
  type InvitationRequestDTO,
  memberListSchema,
  memberSchema,
  PATH,
  trustSchema,
} from "@resource-broker/contract";
import { typedCall } from "./calls.ts";

const newerFeature = "invitations and members";

/** The authorities that the broker's certificate leads to, and who signs certificates of new agents. */
export const trustCall = () => typedCall("GET", PATH.trust, trustSchema, { newerFeature });

/** Invites a cluster; the caller has made the token. The reply is the member. Admins only. */
export const inviteCall = (body: InvitationRequestDTO) =>
  typedCall("POST", PATH.invitations, memberSchema, { body, newerFeature });

/** Every member, in the order of cluster IDs. Admins only. */
export const membersCall = () => typedCall("GET", PATH.members, memberListSchema, { newerFeature });

/** Accepts the identity key of an agent that waits for it; `fingerprint` as the agent's log shows it. Admins only. */
export const acceptCall = (clusterId: string, fingerprint: string) =>
  typedCall("POST", PATH.acceptMember(clusterId), memberSchema, { body: { fingerprint }, newerFeature });

/** Ends the membership of a cluster: every later call of its agent is refused. Admins only. */
export const evictCall = (clusterId: string, reason?: string) =>
  typedCall("POST", PATH.evictMember(clusterId), memberSchema, {
    body: reason === undefined ? {} : { reason },
    newerFeature,
  });
