import type { UiVerified } from "@resource-broker/contract/dashboard";
import { expect, test } from "vitest";
import { shortHash, subjectHref, verifiedView } from "./audit-view.ts";

const AT = "2026-07-01T10:00:00Z";

test.each<readonly [UiVerified, string, string]>([
  [{ state: "whole", lines: 1042, at: AT }, "good", "1,042 lines form"],
  [{ state: "checking", lines: 1 }, "busy", "1 line so far"],
  [{ state: "broken", sequence: 7, message: "another hash", at: AT }, "bad", "At line 7: another hash"],
  [{ state: "none", message: "this store keeps none" }, "calm", "this store keeps none"],
])("the chain in state %o is told in words and a tone", (verified, tone, text) => {
  const view = verifiedView(verified);
  expect(view.tone).toBe(tone);
  expect(view.text).toContain(text);
});

test.each([
  ["rsv-rome-k3", "/reservations/rsv-rome-k3"],
  ["dec-4656049d71786c82", "/decisions/dec-4656049d71786c82"],
  ["paris", "/fleet/paris"],
  ["", null],
])("a line about %s leads to %s", (subject, href) => {
  expect(subjectHref(subject)).toBe(href);
});

test("a hash is cut for the eye", () => {
  expect(shortHash("0f56c2b82b77aa")).toBe("0f56c2b82b");
});
