import { safeJson, safeLine, truncate } from "@resource-broker/base";
import { type Disclosure, fromDecision } from "@resource-broker/contract";
import type { Decision } from "@resource-broker/domain";

const MAX_DECISION = 262_144;

export const MAX_RENEWAL = 253;

export function oneLine(text: string, maxLength: number): string {
  return truncate(safeLine(text), maxLength);
}

/** A renewal annotation as `status.renewed` repeats it: as it is, or as much of it as one line can hold. */
export function renewalEcho(renewal: string): string {
  return oneLine(renewal, MAX_RENEWAL);
}

/** Placeholder for `status.decision` in the cache: the text may have hundreds of kilobytes and is not cached. */
export const DECISION_PLACEHOLDER = "{}";

/** The whole decision as JSON; nothing where it would be too large for an object. */
export function decisionText(decision: Decision, disclosure: Disclosure): { readonly decision?: string } {
  const text = safeJson(JSON.stringify(fromDecision(decision, disclosure)));
  return text.length > MAX_DECISION ? {} : { decision: text };
}
