import { combine, fits, isZero, lookup, type ResourceVector, subtract } from "@resource-broker/base";
import type { Advertisement } from "../advertisement/advertisement.ts";
import { usageById } from "./account.ts";

/**
 * True when losing `after` in a crash could make the broker lend capacity that does not exist: `after` allows less than
 * `before`, or earlier posts could still arrive and be accepted; or when its Liqo ID is new. Such an advertisement is committed before the reply; others
 * may be lost.
 */
export function mustBeDurable(before: Advertisement, after: Advertisement): boolean {
  if (before === after) return false;
  if (claimsOtherLiqoId(before, after)) return true;
  return after.instance !== before.instance || skipsSequence(before, after) || allowsLess(before, after);
}

/** Who claimed a Liqo ID first must not change in a crash. */
function claimsOtherLiqoId({ liqo: old }: Advertisement, { liqo }: Advertisement): boolean {
  return old?.clusterId !== liqo?.clusterId;
}

/** A sequence number is missing: that post may still arrive with unknown content. */
function skipsSequence({ sequence: last = 0 }: Advertisement, { sequence = 0 }: Advertisement): boolean {
  return sequence > last + 1;
}

/**
 * True when some request could be granted with `before` but not with `after`. Fields are compared one by one, so the result
 * does not depend on the current reservations. Prices, names and addresses do not matter.
 */
function allowsLess(before: Advertisement, after: Advertisement): boolean {
  return (
    after.protocol < before.protocol ||
    isLess(unallocatedOf(after), unallocatedOf(before)) ||
    reservesMore(before, after) ||
    lacksLabel(before, after) ||
    lacksShape(before, after)
  );
}

function unallocatedOf({ allocatable, allocated }: Advertisement): ResourceVector {
  return subtract(allocatable, allocated);
}

/** Of some resource there is less. */
function isLess(now: ResourceVector, then: ResourceVector): boolean {
  return !isZero(combine(now, then, (amount, other) => (amount < other ? 1 : 0)));
}

/**
 * The amount of a reservation grows with `granted` and `used`, whether it is live, ended or unknown. A new entry with zero
 * amounts matters too, because the number of reservations per provider is limited.
 */
function reservesMore(before: Advertisement, after: Advertisement): boolean {
  if (after.usage.length === 0) return false;
  const known = usageById(before);
  for (const [id, { granted, used }] of usageById(after)) {
    const other = known.get(id);
    if (other === undefined || isLess(other.granted, granted) || isLess(other.used, used)) return true;
  }
  return false;
}

/** A request may insist on any label. */
function lacksLabel(before: Advertisement, after: Advertisement): boolean {
  return Object.entries(before.labels).some(([name, value]) => lookup(after.labels, name) !== value);
}

/** A request may insist on a node of a size. */
function lacksShape(before: Advertisement, after: Advertisement): boolean {
  const shapes = after.nodeShapes.filter(({ count }) => count > 0);
  return before.nodeShapes.some(
    ({ count, resources }) => count > 0 && !shapes.some((shape) => fits(resources, shape.resources)),
  );
}
