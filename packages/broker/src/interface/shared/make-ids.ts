import { type ClusterId, type DecisionId, type ReservationId, reservationId } from "@resource-broker/domain";
import { reservationNameFor } from "@resource-broker/runtime";

const DIGEST_BYTES = 10;
const DECISION_BYTES = 8;

export interface IdMaker {
  /** The same key of the same requester makes the same id, on every store and after every restart. */
  readonly reservation: (requester: ClusterId, key: string | undefined) => ReservationId;
  readonly decision: () => DecisionId;
}

export function idMaker(randomBytes: (size: number) => Uint8Array): IdMaker {
  return {
    reservation: (requester, key) =>
      key === undefined
        ? reservationId(requester, randomBytes(DIGEST_BYTES))
        : reservationNameFor(requester, key),
    decision: () => `dec-${Buffer.from(randomBytes(DECISION_BYTES)).toString("hex")}`,
  };
}
