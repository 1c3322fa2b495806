import { describe, expect, test } from "vitest";
import {
  FAILURE_REASONS,
  isFinal,
  isLive,
  type LifecycleEvent,
  nextPhase,
  PHASES,
  type Phase,
  RELEASE_REASONS,
} from "./lifecycle.ts";

const EVENTS: readonly LifecycleEvent[] = [
  "grant",
  "activate",
  "renew",
  "acknowledge",
  ...RELEASE_REASONS,
  ...FAILURE_REASONS,
];

/** Written out a second time on purpose: the whole truth, one column for each event in the order above. */
const EXPECTED: Readonly<Record<Phase, string>> = {
  //         grant    activ  renew    ack      Expi Requ Admi Lost Acti NoCa Inva Refu Lost Pree Wait
  Pending: " Reserved -      -        -        -    R    R    R    -    F    F    -    -    -    F",
  Reserved: "-        Active Reserved Reserved R    R    R    R    R    -    -    F    F    F    -",
  Active: "  -        Active Active   Active   R    R    R    R    -    -    -    F    F    F    -",
  Released: "-        -      -        -        -    -    -    -    -    -    -    -    -    -    -",
  Failed: "  -        -      -        -        -    -    -    -    -    -    -    -    -    -    -",
};

const ABBREVIATIONS: Readonly<Record<string, Phase>> = { R: "Released", F: "Failed" };

describe.each(PHASES)("a %s reservation", (phase) => {
  const cells = EXPECTED[phase].trim().split(/\s+/);

  test.each(EVENTS.map((event, index) => ({ event, cell: cells[index] ?? "missing" })))(
    "on $event becomes $cell",
    ({ event, cell }) => {
      expect(nextPhase(phase, event) ?? "-").toBe(ABBREVIATIONS[cell] ?? cell);
    },
  );
});

test("only Reserved and Active hold capacity, and Released and Failed are final", () => {
  expect(PHASES.filter(isLive)).toEqual(["Reserved", "Active"]);
  expect(PHASES.filter(isFinal)).toEqual(["Released", "Failed"]);
});
