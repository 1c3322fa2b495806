import { expect, test } from "vitest";
import { noticeIn, noticeMessage } from "./notice.ts";
import type { Condition } from "./shared-fields.ts";

const AT = "2026-07-01T10:05:00.123Z";
const told = (message: string, more: Partial<Condition> = {}): readonly Condition[] => [
  { type: "Preempting", status: "True", reason: "Notice", lastTransitionTime: AT, message, ...more },
];

test.each([{ at: AT }, { at: AT, byPriority: 50 }, { at: AT, byPriority: -3 }])(
  "a notice is read from the message that tells of it: %j",
  (notice) => {
    expect(noticeIn(told(noticeMessage(notice, "paris")))).toEqual(notice);
  },
);

test("a notice of another broker says when, and perhaps no more", () => {
  expect(noticeIn(told(`ends at ${AT}: the rack is moved`))).toEqual({ at: AT });
});

test.each([
  ["no condition at all", undefined],
  ["one that was withdrawn", told(`ends at ${AT}: paris is drained`, { status: "False" })],
  ["another condition", told(`ends at ${AT}: paris is drained`, { type: "Ready" })],
  ["a message that cannot be read", told("soon")],
])("%s is no notice", (_, conditions) => {
  expect(noticeIn(conditions)).toBeUndefined();
});
