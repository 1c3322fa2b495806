import { join } from "node:path";
import { testCertificates, writeCertificateFolder } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Finding } from "../../src/check/finding.ts";
import { DAY_MS, type Outcome } from "../../src/testing/cli.ts";
import { type Fleet, startFleet } from "./testing/fleet.ts";

describe("the way to the broker", () => {
  const cleanUps: (() => Promise<void>)[] = [];
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await startFleet((cleanUp) => void cleanUps.push(cleanUp));
  });
  afterAll(async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  });

  const now = (): number => Math.round(performance.timeOrigin + performance.now());
  const check = (
    name: string,
    world: { now?: () => number; env?: Record<string, string> } = {},
  ): Promise<Outcome> => fleet.asWith({ now, ...world }, name, "check", "--only", "broker", "-o", "json");

  test("is in order: a line for each check, status 0", async () => {
    const { code, out, err } = await fleet.asWith({ now }, "ops", "check", "--only", "broker");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const lines = out.trimEnd().split("\n");
    expect(lines.map((line) => line.slice(0, 14).trim())).toEqual([
      "✓ certificate",
      "✓ broker TLS",
      "✓ broker",
      "✓ clock",
      "✓ agents",
    ]);
    expect(lines[0]).toContain("ops (admin)");
    expect(lines[1]).toContain("TLSv1.3");
    expect(lines[2]).toMatch(/answers to ops: protocol 2, ledger \S+/u);
    expect(lines[4]).toContain("berlin ");
  });

  test("a cluster is told of itself alone", async () => {
    const { out } = await check("rome");
    expect(findings(out)["agents"]?.message).toMatch(/^last advertisement: rome \d+s ago$/u);
  });

  test.each([
    {
      name: "a folder that is not there",
      env: { BROKERCTL_CERTS: "/nowhere" },
      states: { certificate: "failed", "broker TLS": "skipped", broker: "skipped", clock: "skipped" },
      says: ["certificate", "brokerctl certs issue"],
    },
    {
      name: "a port where nobody listens",
      env: { BROKERCTL_BROKER: "https://127.0.0.1:1" },
      states: { certificate: "ok", "broker TLS": "failed", broker: "failed", agents: "skipped" },
      says: ["broker TLS", "connection refused"],
    },
  ])("$name fails, with what to do", async ({ env, states, says: [which = "", words = ""] }) => {
    const { code, out, err } = await check("ops", { env });
    const found = findings(out);
    expect(code).toBe(1);
    expect(err).toMatch(/\d of 5 checks failed/u);
    for (const [name, status] of Object.entries(states)) expect(found[name]?.status).toBe(status);
    expect(`${found[which]?.message} ${found[which]?.remedy}`).toContain(words);
  });

  test("a clock that runs ahead fails, and says by how much", async () => {
    const { code, out } = await check("ops", { now: () => now() - 300_000 });
    expect(code).toBe(1);
    expect(findings(out)["clock"]).toMatchObject({
      status: "failed",
      remedy: expect.stringContaining("NTP"),
    });
    expect(findings(out)["clock"]?.message).toMatch(
      /^the broker's clock is (4|5)m ahead of the local clock$/u,
    );
  });

  test("an expired certificate is said to be one", async () => {
    const { out } = await check("ops", { now: () => now() + 40_000 * DAY_MS });
    expect(findings(out)["certificate"]?.message).toContain("expired");
  });

  test("-o name lists what failed", async () => {
    const { out } = await fleet.asWith(
      { now: () => now() - 300_000 },
      "ops",
      "check",
      "--only",
      "broker",
      "-o",
      "name",
    );
    expect(out).toBe("clock\n");
  });

  test("an authority that signed another broker is named", async () => {
    const folder = join(fleet.folder, "stranger");
    const others = await testCertificates();
    await writeCertificateFolder(folder, others.admin("stranger"));
    const { out } = await check("stranger");
    expect(findings(out)["broker TLS"]?.message).toContain("ca.crt");
  });
});

function findings(out: string): Readonly<Record<string, Finding>> {
  return Object.fromEntries((JSON.parse(out) as Finding[]).map((finding) => [finding.name, finding]));
}
