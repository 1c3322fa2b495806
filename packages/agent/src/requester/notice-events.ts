import type { ObjectEvent } from "../events/record-event.ts";
import { WITHDRAWN } from "../manifests/conditions.ts";

/** Pods that get an event of their own; the event of the request says how many there are. */
const MAX_POD_EVENTS = 50;

type Regarding = ObjectEvent["regarding"];

interface NoticeChange {
  readonly id: string;
  /** Undefined: the notice was withdrawn. */
  readonly now: string | undefined;
}

/** The events of a notice, or of its withdrawal: on the request, and on the pods that run on its node. */
export function noticeEvents(
  { id, now }: NoticeChange,
  regarding: Regarding,
  pods: readonly Regarding[],
): ObjectEvent[] {
  const kind =
    now === undefined
      ? ({ type: "Normal", reason: "Reprieved" } as const)
      : ({ type: "Warning", reason: "Preempting" } as const);
  const message = `reservation ${id} ${now ?? `stays: ${WITHDRAWN}`}`;
  const concerned = [...pods].sort((a, b) => compare(nameOf(a), nameOf(b))).slice(0, MAX_POD_EVENTS);
  return [
    { regarding, ...kind, message: message + podsText(pods.length) },
    ...concerned.map((pod) => ({ regarding: pod, ...kind, message })),
  ];
}

function podsText(count: number): string {
  if (count === 0) return "";
  const others = count <= MAX_POD_EVENTS ? "" : ` (the first ${MAX_POD_EVENTS} by name have this event, too)`;
  return `; pods on its node: ${count}${others}`;
}

function nameOf({ metadata }: Regarding): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

/** By code units: the same everywhere. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
