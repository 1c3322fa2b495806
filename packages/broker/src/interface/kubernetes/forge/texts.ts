import { type Disclosure, fromDecision } from "@resource-broker/contract";
import type { Decision } from "@resource-broker/domain";

/** As the contract bounds them; a text that is too long must not make a whole status unwritable. */
export const MAX_MESSAGE = 4096;
export const MAX_EXPLANATION = 16_384;
const MAX_DECISION = 262_144;

export const MAX_RENEWAL = 253;

export function oneLine(text: string, maxLength: number): string {
  return cut(text.replaceAll(/\p{Cc}+/gu, " "), maxLength);
}

/** A renewal annotation as `status.renewed` repeats it: as it is, or as much of it as one line can hold. */
export function renewalEcho(wish: string): string {
  return oneLine(wish, MAX_RENEWAL);
}

/** Stands in `status.decision` of a known object for a text that is there: hundreds of kilobytes are not kept. */
export const DECISION_IS_THERE = "{}";

export function cut(text: string, maxLength: number): string {
  // Half a character would come back from the server as another one, and be written again and again.
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).replace(/\p{Surrogate}$/u, "")}…`;
}

/** The whole decision as JSON; nothing where it would be too large for an object. */
export function decisionText(decision: Decision, disclosure: Disclosure): { readonly decision?: string } {
  const text = JSON.stringify(fromDecision(decision, disclosure));
  return text.length > MAX_DECISION ? {} : { decision: text };
}
