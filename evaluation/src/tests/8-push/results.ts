import { type Distribution, distributionOf } from "../../measure/statistics.ts";

/** How a provider hears of what it has to hold. */
export const WAYS = ["push", "poll"] as const;
export type Way = (typeof WAYS)[number];

/** One reservation; both times since the request was sent. */
export interface Notification {
  readonly way: Way;
  /** Until the requester had its reply. */
  readonly answeredMs: number;
  /** Until the provider had read of it; absent: it never did. */
  readonly toldMs?: number;
}

export interface WayMetrics {
  readonly way: Way;
  readonly notified: Distribution;
  /** From the requester's reply on: below 0 where the provider knew first. */
  readonly afterReply: Distribution;
}

export function metricsOf(notifications: readonly Notification[], way: Way): WayMetrics | undefined {
  const notified = notifications.flatMap((each) =>
    each.way === way && each.toldMs !== undefined
      ? [{ toldMs: each.toldMs, answeredMs: each.answeredMs }]
      : [],
  );
  const all = distributionOf(notified.map(({ toldMs }) => toldMs));
  const afterReply = distributionOf(notified.map(({ toldMs, answeredMs }) => toldMs - answeredMs));
  return all === undefined || afterReply === undefined ? undefined : { way, notified: all, afterReply };
}

/** Points of a curve: after so long, this share of them knew, in percent. */
export function notifiedShare(
  notifications: readonly Notification[],
  way: Way,
): { readonly x: number; readonly y: number }[] {
  const ofWay = notifications.filter((each) => each.way === way);
  const times = ofWay
    .flatMap(({ toldMs }) => (toldMs === undefined ? [] : [toldMs]))
    .toSorted((a, b) => a - b);
  return times.map((x, at) => ({ x, y: (100 * (at + 1)) / ofWay.length }));
}

/** A curve drawn with at most so many points, the last one among them. */
export function thinned<T>(points: readonly T[], most: number): T[] {
  const step = Math.max(1, Math.ceil(points.length / most));
  return points.filter((_, at) => at % step === 0 || at === points.length - 1);
}

export function pushFaults(notifications: readonly Notification[]): string[] {
  return WAYS.flatMap((way) => {
    const never = notifications.filter((each) => each.way === way && each.toldMs === undefined).length;
    return never === 0 ? [] : [`${way}: ${never} reservations that their provider never heard of`];
  });
}
