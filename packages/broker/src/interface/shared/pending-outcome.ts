import type { AdoptionReplyDTO } from "@resource-broker/contract";
import type { AdoptionOffer, ClusterId, Reply } from "@resource-broker/domain";

type PendingOutcome = Pick<AdoptionReplyDTO["results"][number], "outcome" | "message">;

/** The reply to an offer that is not decided yet. */
export function pendingOutcome(
  { waitsFor }: Extract<Reply, { readonly kind: "adoption-offered" }>,
  { by, offer }: { readonly by: ClusterId; readonly offer: AdoptionOffer },
): PendingOutcome {
  const other = by === offer.requester ? offer.provider : offer.requester;
  switch (waitsFor) {
    case "other-party":
      return { outcome: "waiting", message: `waits for ${other} to report the same hold` };
    case "advertisement":
      return { outcome: "waiting", message: `waits for ${offer.provider} to advertise what it has` };
    case "admin":
      return { outcome: "disputed", message: `${other} reports it differently; an admin must decide` };
  }
}
