import { isDeepStrictEqual } from "node:util";
import { formatTime, parseJson } from "@resource-broker/base";
import { fitToSchema, type Schema } from "@resource-broker/contract";
import { type Condition, noticeMessage } from "@resource-broker/contract/crd";
import type { Reservation } from "../reservations/reservation.ts";
import type { CachedReservation } from "../reservations/reservation-cache.ts";

export interface ConditionUpdate extends Pick<Condition, "type" | "status" | "reason" | "message"> {
  /** True: the reason names a step, and lastTransitionTime is the start of that step. */
  readonly isStep?: boolean;
}

interface CommonStatus {
  readonly lastUpdateTime?: string;
  readonly conditions?: readonly Condition[];
}

interface StatusUpdate {
  readonly before: CommonStatus | undefined;
  readonly updates: readonly ConditionUpdate[];
  readonly observedGeneration?: number | undefined;
  readonly wallMs: number;
}

/** A status with its time and conditions, within the limits of its schema. */
export function statusOf<S extends CommonStatus>(schema: Schema<S>, fields: S, update: StatusUpdate): S {
  return fitToSchema(schema, {
    ...fields,
    lastUpdateTime: formatTime(update.wallMs),
    conditions: withConditions(update),
  });
}

/** The conditions after an update: lastTransitionTime changes only with the status or step. */
function withConditions({ before, updates, observedGeneration, wallMs }: StatusUpdate): Condition[] {
  const now = formatTime(wallMs);
  const conditions = new Map((before?.conditions ?? []).map((condition) => [condition.type, condition]));
  for (const { isStep = false, ...each } of updates) {
    const known = conditions.get(each.type);
    const isSame = known?.status === each.status && (!isStep || known.reason === each.reason);
    conditions.set(each.type, {
      ...each,
      ...(observedGeneration === undefined ? {} : { observedGeneration }),
      lastTransitionTime: isSame ? known.lastTransitionTime : now,
    });
  }
  return [...conditions.values()];
}

/** True when nothing but the time of writing differs, so that nothing needs to be written. */
export function isSameStatus(a: object | undefined, b: object): boolean {
  return a !== undefined && isDeepStrictEqual(withoutTimes(a), withoutTimes(b));
}

/** As JSON, which has no field that is undefined. */
function withoutTimes(status: object): unknown {
  return parseJson(JSON.stringify({ ...status, lastUpdateTime: undefined }));
}

/** The condition that the broker does not know the reservation; on both instructions. */
export function unknownToBrokerCondition(entry: CachedReservation): ConditionUpdate {
  const type = "UnknownToBroker";
  return entry.syncState === "unknown"
    ? { type, status: "True", reason: "NotInLedger", message: unknownMessage(entry) }
    : { type, status: "False", reason: "Known", message: "the broker knows this reservation" };
}

const UNKNOWN_TO_BROKER =
  "the broker does not know this reservation; it is kept and offered to the broker again";

/** The message, with the broker's last reason against adoption. */
export function unknownMessage({ notAdopted }: Pick<CachedReservation, "notAdopted">): string {
  return notAdopted === undefined ? UNKNOWN_TO_BROKER : `${UNKNOWN_TO_BROKER}: ${notAdopted}`;
}

export const PREEMPTING = "Preempting";

/** Why and when a reservation ends; undefined: it is not under notice. */
export function noticeText({
  preempting,
  provider,
}: Pick<Reservation, "preempting" | "provider">): string | undefined {
  return preempting && noticeMessage(preempting, provider);
}

/** The notice that a status shows. */
export function shownNotice({ conditions = [] }: CommonStatus = {}): string | undefined {
  return conditions.find(({ type, status }) => type === PREEMPTING && status === "True")?.message;
}

/** The condition that a reservation is under notice, on its request and on both instructions; none if it never was. */
export function noticeCondition(
  reservation: Reservation,
  before: CommonStatus | undefined,
): ConditionUpdate[] {
  const message = noticeText(reservation);
  if (message !== undefined) return [{ type: PREEMPTING, status: "True", reason: "Notice", message }];
  return shownNotice(before) === undefined ? [] : [{ ...OVER, reason: "Reprieved", message: WITHDRAWN }];
}

export const WITHDRAWN = "the notice was withdrawn";
const OVER = { type: PREEMPTING, status: "False" } as const;

/** The same when the reservation has ended. */
export function noticeOver(before: CommonStatus | undefined): ConditionUpdate[] {
  if (shownNotice(before) === undefined) return [];
  return [{ ...OVER, reason: "Ended", message: "the reservation has ended" }];
}
