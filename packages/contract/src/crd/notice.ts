import type { ReservationDTO } from "../wire/reservation.ts";
import { RESERVATION_CONDITION } from "./protocol.ts";
import type { Condition } from "./shared-fields.ts";

type Notice = NonNullable<ReservationDTO["preempting"]>;

const SHAPE = /^ends at (\S+):(?: a waiting request of priority (-?[0-9]+) needs its capacity$)?/;

/** The message of the condition Preempting: why and when a reservation ends. Agents read the notice from it: definitions of every age have conditions. */
export function noticeMessage({ at, byPriority }: Notice, provider: string): string {
  const cause =
    byPriority === undefined
      ? `${provider} is drained`
      : `a waiting request of priority ${byPriority} needs its capacity`;
  return `ends at ${at}: ${cause}`;
}

/** The notice that the conditions of a Reservation tell of; undefined: it is not under notice. */
export function noticeIn(conditions: readonly Condition[] = []): Notice | undefined {
  const { preempting } = RESERVATION_CONDITION;
  const told = conditions.find(({ type, status }) => type === preempting && status === "True");
  const [, at, byPriority] = SHAPE.exec(told?.message ?? "") ?? [];
  if (at === undefined) return undefined;
  return byPriority === undefined ? { at } : { at, byPriority: Number(byPriority) };
}
