import { fromWaiting, type WaitingRequestDTO } from "@resource-broker/contract";
import { type Actor, type QueuePlace, queuePlaces, tenantOf, type Waiting } from "@resource-broker/domain";
import type { Engine } from "../../engine/engine.ts";

type QueueReader = Pick<Engine, "ledger" | "now" | "policy">;

/** A request that waits, or has left the queue, as one of its readers sees it. Without its place, which costs a walk through the queue. */
export function renderWaiting(
  { policy }: Pick<Engine, "policy">,
  entry: Waiting,
  { reader, place }: { readonly reader: Pick<Actor, "clusterId">; readonly place?: QueuePlace },
): WaitingRequestDTO {
  const { requester, namespace } = entry;
  return fromWaiting(entry, {
    tenant: place?.tenant ?? tenantOf(policy, requester, namespace),
    isRequester: reader.clusterId === requester,
    ...(place === undefined ? {} : { place }),
  });
}

/** A waiting request exists only for its requester and for admins. */
export function isWaitingVisible({ clusterId, isAdmin }: Actor, { requester }: Waiting): boolean {
  return isAdmin || requester === clusterId;
}

/** The same with its place in the queue, while it waits. */
export function renderWithPlace(engine: QueueReader, entry: Waiting, reader: Actor): WaitingRequestDTO {
  const [place] = placesOf(engine, ({ id }) => id === entry.id);
  return renderWaiting(engine, entry, { reader, ...(place === undefined ? {} : { place }) });
}

/** Places in the queue, in its order. Only those asked for are computed. */
export function placesOf(
  { ledger, now, policy }: QueueReader,
  isAsked: (entry: Waiting) => boolean,
): Generator<QueuePlace> {
  return queuePlaces(ledger, { now: now(), policy }, isAsked);
}
