import { type AdmissionCase, byRule, goodObject } from "./admission-case.ts";
import { changed } from "./good-objects.ts";

const KIND = "ResourceRequest";
const FIELD = "spec.queueTimeout";

/** Its status says that it waits. */
const WAITS = goodObject(KIND);
const WITHOUT = changed(WAITS, FIELD, undefined);
const LEAVES = changed(WITHOUT, "spec.queue", false);
const NOT_WAITING = changed(changed(WAITS, "status.reservationName", undefined), "status.queue", undefined);

const REFUSED_WHILE_IT_WAITS = [
  ["another queueTimeout", WAITS, changed(WAITS, FIELD, "5h")],
  ["to lose its queueTimeout", WAITS, WITHOUT],
  ["a queueTimeout that comes later", WITHOUT, WAITS],
] as const;

/** A time in the queue belongs to a request that may wait, and stays as it is while the request waits. */
export const QUEUE_TIMEOUT_CASES: readonly AdmissionCase[] = [
  ...REFUSED_WHILE_IT_WAITS.map(([what, old, object]) => ({
    name: `a request that waits refuses ${what}`,
    kind: KIND,
    old,
    object,
    ...byRule(FIELD, "cannot be changed while the request waits"),
  })),
  ...[false, undefined].map((queue) => ({
    name: `a request with queue ${queue} refuses a queueTimeout`,
    kind: KIND,
    object: changed(WAITS, "spec.queue", queue),
    ...byRule(FIELD, "has no effect without queue: true"),
  })),
  { name: "a request that waits may leave the queue", kind: KIND, old: WAITS, object: LEAVES },
  {
    name: "a request that is pending and does not wait may get another queueTimeout",
    kind: KIND,
    old: NOT_WAITING,
    object: changed(NOT_WAITING, FIELD, "5h"),
  },
];
