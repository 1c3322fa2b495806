import type { AuditChainDTO } from "@resource-broker/contract";
import { expect, test } from "vitest";
import { chainView, subjectHref } from "./audit-page.tsx";

test.each<readonly [AuditChainDTO, string, string]>([
  [{ state: "whole", lines: 1042, at: "2026-07-01T10:00:00Z" }, "good", "1,042 lines form"],
  [{ state: "checking", lines: 1 }, "busy", "1 line so far"],
  [{ state: "broken", message: "line 7 is missing" }, "bad", "Line 7 is missing."],
])("the chain in state %o is told in words and a tone", (chain, tone, text) => {
  expect(chainView(chain)).toMatchObject({ tone, text: expect.stringContaining(text) });
});

test.each([
  ["rsv-rome-k3", "/reservations/rsv-rome-k3"],
  ["dec-4656049d71786c82", "/decisions/dec-4656049d71786c82"],
  ["paris", "/fleet/paris"],
])("a line about %s leads to %s", (subject, href) => {
  expect(subjectHref(subject)).toBe(href);
});
