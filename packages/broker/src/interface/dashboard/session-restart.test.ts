import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fakeClock, memoryDisk } from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { BY_OPS, type RunningDashboard, runningDashboards, tokenIn } from "./testing/running-dashboard.ts";

const start = runningDashboards();
const HOUR_MS = 3_600_000;

/** A broker that can be stopped and comes back with what it kept; the clock goes on. */
function place() {
  const folder = mkdtempSync(join(tmpdir(), "sign-outs-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [time, disk, signOutsFile] = [fakeClock(), memoryDisk(), join(folder, "sign-outs.json")];
  const common = { time, disk, signOutsFile, randomBytes };
  return { time, run: () => start(common) };
}

/** What a browser holds. On the loopback its name has the port in it, which in tests is another one each time. */
const heldBy = ({ cookie }: { readonly cookie: string }): string => cookie.slice(cookie.indexOf("=") + 1);

const look = ({ visit, port }: RunningDashboard, held: string) =>
  visit("GET /api/v1/dashboard/session", { headers: { Cookie: `broker-dashboard-${port}=${held}` } });

const useLink = ({ visit, port }: RunningDashboard, token: string) =>
  visit("POST /api/v1/dashboard/session", {
    body: { token },
    headers: { Origin: `http://127.0.0.1:${port}`, "X-Broker-Dashboard": "1" },
  });

describe("a session that began with a link", () => {
  test.each(["admin", "viewer"] as const)(
    "outlives a restart, as %s and not a moment longer",
    async (role) => {
      const { time, run } = place();
      const before = await run();
      const browser = await before.signIn(role);
      const { json } = await browser.get("/api/v1/dashboard/session");
      await before.stop();
      await time.advance(HOUR_MS);
      const after = await run();
      const { expiresAt } = json as { expiresAt: string };
      expect(await look(after, heldBy(browser))).toMatchObject({
        status: 200,
        json: { role, name: "ops", by: "link", expiresAt },
      });
      await time.advance(11 * HOUR_MS - 1);
      expect(await look(after, heldBy(browser))).toMatchObject({ status: 200 });
      await time.advance(1);
      expect(await look(after, heldBy(browser))).toMatchObject({ status: 401 });
    },
  );

  test("that was signed out has no cookie, and stays out after a restart", async () => {
    const { run } = place();
    const before = await run();
    const [leaves, stays] = [await before.signIn(), await before.signIn()];
    const left = await leaves.send("DELETE /api/v1/dashboard/session");
    expect(left).toMatchObject({
      status: 204,
      headers: { "set-cookie": [expect.stringContaining("Max-Age=0")] },
    });
    expect(await look(before, heldBy(leaves))).toMatchObject({ status: 401 });
    await before.stop();
    const after = await run();
    expect(await look(after, heldBy(leaves))).toMatchObject({ status: 401 });
    expect(await look(after, heldBy(stays))).toMatchObject({ status: 200 });
  });

  test("means nothing to a broker with another ledger, though it has the same key", async () => {
    const browser = await (await place().run()).signIn();
    expect(await look(await place().run(), heldBy(browser))).toMatchObject({ status: 401 });
  });

  test.each([
    { name: "cut short", tamper: (held: string) => held.slice(0, -1) },
    { name: "without its signature", tamper: (held: string) => held.slice(0, held.lastIndexOf(".") + 1) },
    { name: "that says it needs no signature", tamper: (held: string) => unsigned(held) },
    { name: "of a viewer who would be admin", tamper: (held: string) => withClaims(held, { role: "admin" }) },
    {
      name: "that would last a day longer",
      tamper: (held: string) => withClaims(held, { beganAt: 24 * HOUR_MS }),
    },
    { name: "that is endless", tamper: (held: string) => `${held}${"x".repeat(2000)}` },
    { name: "of nothing", tamper: () => ".." },
  ])("a cookie $name signs nobody in, and ends nobody's session", async ({ tamper }) => {
    const running = await place().run();
    const browser = await running.signIn("viewer");
    const tampered = tamper(heldBy(browser));
    expect(tampered).not.toBe(heldBy(browser));
    expect(await look(running, tampered)).toMatchObject({ status: 401 });
    const headers = {
      Cookie: `broker-dashboard-${running.port}=${tampered}`,
      Origin: `http://127.0.0.1:${running.port}`,
      "X-Broker-Dashboard": "1",
    };
    expect(await running.visit("DELETE /api/v1/dashboard/session", { headers })).toMatchObject({
      status: 204,
    });
    expect(await browser.get("/api/v1/dashboard/session")).toMatchObject({ status: 200 });
  });
});

test("a link works once, whatever happens: neither a used nor an unused one survives a restart", async () => {
  const { run } = place();
  const before = await run();
  const [used, unused] = [0, 1].map(() =>
    tokenIn(before.dashboard.makeLink({ role: "admin", ...BY_OPS }).url),
  );
  expect(await useLink(before, used ?? "")).toMatchObject({ status: 200 });
  await before.stop();
  const after = await run();
  expect(await useLink(after, used ?? "")).toMatchObject({ status: 401 });
  expect(await useLink(after, unused ?? "")).toMatchObject({ status: 401 });
});

/** The payload with other claims, under the old signature. */
function withClaims(held: string, claims: object): string {
  const [header = "", payload = "", signature = ""] = held.split(".");
  const parsed = JSON.parse(Buffer.from(payload, "base64url").toString()) as object;
  return [header, encoded({ ...parsed, ...claims }), signature].join(".");
}

function unsigned(held: string): string {
  const [, payload = ""] = held.split(".");
  return `${encoded({ alg: "none" })}.${payload}.`;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
