import {
  type ClusterId,
  type DecisionId,
  type Instant,
  type ReservationId,
  reservationId,
  reservationNameFor,
} from "@resource-broker/domain";
import { sha256 } from "@resource-broker/runtime";

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
        : reservationNameFor(requester, key, sha256),
    decision: () => `dec-${Buffer.from(randomBytes(DECISION_BYTES)).toString("hex")}`,
  };
}

const TIME_DIGITS = 11;
const COUNT_DIGITS = 5;
/** Counting begins in the lower half of what the digits hold: no millisecond sees as many decisions as the upper one. */
const FIRST_COUNT_BELOW = 16 ** COUNT_DIGITS / 2;

/**
 * Decision ids in the order they are made: stores index decisions by id, and where ids are random each new one changes
 * a page of its own, of an index that grows with history. Each is given out once: within a millisecond they count up, and
 * a process that begins where another ended begins to count elsewhere. One maker for each process.
 */
export function orderedDecisions(
  now: () => Instant,
  randomBytes: (size: number) => Uint8Array,
): IdMaker["decision"] {
  let at = -1;
  let count = 0;
  return () => {
    const time = Math.max(at, now());
    count =
      time === at ? count + 1 : Buffer.from(randomBytes(DECISION_BYTES)).readUInt32BE(4) % FIRST_COUNT_BELOW;
    at = time;
    return `dec-${digits(time, TIME_DIGITS)}${digits(count, COUNT_DIGITS)}`;
  };
}

function digits(value: number, length: number): string {
  return value.toString(16).padStart(length, "0");
}
