import type { Advertisement } from "../advertisement/advertisement.ts";
import { lookup } from "../lookup.ts";
import { combine, fits, isZero, type ResourceVector, subtract } from "../resources/resource-vector.ts";
import { usageById } from "./account.ts";

/**
 * True when a broker that remembers `before` and has forgotten `after` could lend what is not there: `after` allows
 * less, or posts that came before it could still arrive and be believed. Such an advertisement is committed before it is
 * answered; any other one may be lost.
 */
export function mustOutlive(before: Advertisement, after: Advertisement): boolean {
  if (before === after) return false;
  return after.instance !== before.instance || leavesGap(before, after) || allowsLess(before, after);
}

/** A post in between is missing: it may be on its way, and nobody knows what it says. */
function leavesGap({ sequence: last = 0 }: Advertisement, { sequence = 0 }: Advertisement): boolean {
  return sequence > last + 1;
}

/**
 * True when some request could be granted on `before` and not on `after`. Compared field by field, so that the answer
 * holds whatever the ledger lends now or later. Prices, names and addresses allow and forbid nothing.
 */
function allowsLess(before: Advertisement, after: Advertisement): boolean {
  return (
    after.protocol < before.protocol ||
    isLess(ownOf(after), ownOf(before)) ||
    holdsMore(before, after) ||
    lacksLabel(before, after) ||
    lacksShape(before, after)
  );
}

function ownOf({ allocatable, allocated }: Advertisement): ResourceVector {
  return subtract(allocatable, allocated);
}

/** Of some resource there is less. */
function isLess(now: ResourceVector, then: ResourceVector): boolean {
  return !isZero(combine(now, then, (amount, other) => (amount < other ? 1 : 0)));
}

/**
 * Each hold counts as live, ended or unknown, and what it counts for grows with what is granted and what is used. Even
 * one of nothing counts: a provider has only so many.
 */
function holdsMore(before: Advertisement, after: Advertisement): boolean {
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
