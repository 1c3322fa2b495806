import { randomBytes, X509Certificate } from "node:crypto";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { inMemoryAuthority } from "./in-memory-authority.ts";

const HOUR_MS = 3_600_000;

function authorityAt(now: () => number) {
  return inMemoryAuthority({ commonName: "Demo CA", now, randomBytes });
}

describe("a small authority", () => {
  test("counts from the time of issue, and never beyond its own end", async () => {
    const time = fakeClock();
    const authority = authorityAt(time.wallMs);
    await time.advance(24 * HOUR_MS);
    const issue = (validForMs: number) =>
      new X509Certificate(authority.issue({ commonName: "rome", isClient: true, validForMs }).cert);
    expect(issue(HOUR_MS).validToDate.getTime()).toBe(time.wallMs() + HOUR_MS);
    const end = new X509Certificate(authority.cert).validToDate;
    expect(issue(1e6 * HOUR_MS).validToDate).toEqual(end);
  });

  test("issues nothing that would be good for nothing", () => {
    const { issue } = authorityAt(fakeClock().wallMs);
    expect(() => issue({ commonName: "rome", validForMs: HOUR_MS })).toThrow("rome needs a use");
  });
});
