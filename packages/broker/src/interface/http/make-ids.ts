import { hash } from "node:crypto";
import { type ClusterId, type DecisionId, type ReservationId, reservationId } from "@resource-broker/domain";

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
      reservationId(
        requester,
        key === undefined ? randomBytes(DIGEST_BYTES) : hash("sha256", `${requester}\0${key}`, "buffer"),
      ),
    decision: () => `dec-${Buffer.from(randomBytes(DECISION_BYTES)).toString("hex")}`,
  };
}
