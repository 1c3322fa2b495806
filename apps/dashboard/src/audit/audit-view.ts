import type { UiVerified } from "@resource-broker/contract/dashboard";
import { count, plainNumber } from "../format/amounts.ts";
import type { Tone } from "../parts/chips.tsx";
import { hrefTo } from "../routing/route.ts";

export interface VerifiedView {
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
  /** When it was found out; null: it is still running. */
  readonly at: string | null;
}

export function verifiedView(verified: UiVerified): VerifiedView {
  switch (verified.state) {
    case "whole":
      return {
        tone: "good",
        title: "Intact",
        text:
          verified.lines === 0
            ? "There is no line yet."
            : `All ${count(verified.lines, "line")} form one hash chain: no line was changed, removed or inserted.`,
        at: verified.at,
      };
    case "checking":
      return {
        tone: "busy",
        title: "Being checked",
        text: `${count(verified.lines, "line")} so far, from the first on.`,
        at: null,
      };
    case "broken":
      return {
        tone: "bad",
        title: "Broken",
        text: `At line ${plainNumber(verified.sequence)}: ${verified.message}`,
        at: verified.at,
      };
    case "none":
      return { tone: "calm", title: "Not chained", text: verified.message, at: null };
  }
}

/** Lines are about a reservation, a decision, a cluster, or nothing that has a page. */
export function subjectHref(subject: string): string | null {
  if (subject === "") return null;
  if (subject.startsWith("rsv-")) return hrefTo("reservations", subject);
  return hrefTo(subject.startsWith("dec-") ? "decisions" : "fleet", subject);
}

/** Enough of a digest to compare by eye. */
export function shortHash(hash: string): string {
  return hash.slice(0, 10);
}
