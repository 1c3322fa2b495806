import { createPrivateKey, createPublicKey, randomBytes, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commonName, fakeClock, memoryDisk } from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  BY_OPS,
  certificates,
  type DashboardParts,
  type RunningDashboard,
  runningDashboards,
  tokenIn,
} from "./testing/running-dashboard.ts";

const start = runningDashboards();
const HOUR_MS = 3_600_000;

/** A broker that can be stopped and comes back with what it kept; the clock goes on. */
function place() {
  const folder = mkdtempSync(join(tmpdir(), "sign-outs-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [time, disk, signOutsFile] = [fakeClock(), memoryDisk(), join(folder, "sign-outs.json")];
  const common = { time, disk, signOutsFile, randomBytes };
  return { time, run: (parts: DashboardParts = {}) => start({ ...common, ...parts }) };
}

/** What a browser holds. On the loopback its name has the port in it, which in tests is another one each time. */
const heldBy = ({ cookie }: { readonly cookie: string }): string => cookie.slice(cookie.indexOf("=") + 1);

const look = ({ visit, port }: RunningDashboard, held: string) =>
  visit("GET /ui/session", { headers: { Cookie: `broker-dashboard-${port}=${held}` } });

const useLink = ({ visit, port }: RunningDashboard, token: string) =>
  visit("POST /ui/session", {
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
      const { json } = await browser.get("/ui/session");
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

  test("that was signed out stays out after a restart", async () => {
    const { run } = place();
    const before = await run();
    const [leaves, stays] = [await before.signIn(), await before.signIn()];
    expect(await leaves.send("DELETE /ui/session")).toMatchObject({ status: 204 });
    expect(await look(before, heldBy(leaves))).toMatchObject({ status: 401 });
    await before.stop();
    const after = await run();
    expect(await look(after, heldBy(leaves))).toMatchObject({ status: 401 });
    expect(await look(after, heldBy(stays))).toMatchObject({ status: 200 });
  });

  test("ends where the same browser uses another link, after a restart too", async () => {
    const { run } = place();
    const before = await run();
    const first = await before.signIn();
    const { url } = before.dashboard.makeLink({ role: "viewer", ...BY_OPS });
    expect(await first.send("POST /ui/session", { token: tokenIn(url) })).toMatchObject({ status: 200 });
    expect(await look(before, heldBy(first))).toMatchObject({ status: 401 });
    await before.stop();
    expect(await look(await run(), heldBy(first))).toMatchObject({ status: 401 });
  });

  test.each([
    { name: "the admin's certificate was revoked", own: () => ({ crl: certificates.crl([REVOKED]) }) },
    { name: "the authority is another one", own: () => ({ ca: certificates.authority().cert }) },
    { name: "the broker has another key", own: () => newKey() },
  ])("ends where, while the broker was away, $name", async ({ own }) => {
    const { run } = place();
    const before = await run();
    const certificate = new X509Certificate(REVOKED.cert);
    const { url } = before.dashboard.makeLink({ role: "admin", by: "ops", certificate });
    const { headers } = await useLink(before, tokenIn(url));
    const held = heldBy({ cookie: headers["set-cookie"]?.[0]?.split(";")[0] ?? "" });
    expect(await look(before, held)).toMatchObject({ status: 200 });
    await before.stop();
    expect(await look(await run({ own: own() }), held)).toMatchObject({ status: 401 });
  });

  test("stays where the broker's certificate was renewed with its key", async () => {
    const { run } = place();
    const before = await run();
    const browser = await before.signIn();
    before.replaceCertificates({ cert: renewedCertificate() });
    expect(await browser.get("/ui/session")).toMatchObject({ status: 200 });
    await before.stop();
    const after = await run({ own: { cert: renewedCertificate() } });
    expect(await look(after, heldBy(browser))).toMatchObject({ status: 200 });
  });

  test("means nothing to a broker with another ledger, though it has the same key", async () => {
    const browser = await (await place().run()).signIn();
    expect(await look(await place().run(), heldBy(browser))).toMatchObject({ status: 401 });
  });

  test("gets no longer when the clock is put back", async () => {
    const { time, run } = place();
    const running = await run();
    const browser = await running.signIn();
    time.jumpWall(-60_000);
    expect(await look(running, heldBy(browser))).toMatchObject({ status: 200 });
    time.jumpWall(-1);
    expect(await look(running, heldBy(browser))).toMatchObject({ status: 401 });
  });

  test("that is signed out while a wrong clock makes it count for nothing stays out when the clock is put right", async () => {
    const { time, run } = place();
    const running = await run();
    for (const wrongByMs of [-HOUR_MS, 24 * HOUR_MS]) {
      const other = await running.signIn();
      time.jumpWall(wrongByMs);
      expect(await other.send("DELETE /ui/session")).toMatchObject({ status: 204 });
      time.jumpWall(-wrongByMs);
      expect(await look(running, heldBy(other))).toMatchObject({ status: 401 });
    }
  });

  test.each([
    { name: "cut short", tamper: (held: string) => held.slice(0, -1) },
    { name: "without its seal", tamper: (held: string) => held.slice(0, held.lastIndexOf("~")) },
    { name: "of a viewer who would be admin", tamper: (held: string) => held.replace("viewer", "admin") },
    {
      name: "that would last a day longer",
      tamper: (held: string) =>
        held.replace(/~(\d{13})~/, (_, at: string) => `~${Number(at) + 24 * HOUR_MS}~`),
    },
    { name: "that is endless", tamper: (held: string) => `${held}${"x".repeat(2000)}` },
    { name: "of nothing", tamper: () => "~~~~~~~" },
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
    expect(await running.visit("DELETE /ui/session", { headers })).toMatchObject({ status: 204 });
    expect(await browser.get("/ui/session")).toMatchObject({ status: 200 });
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

const REVOKED = certificates.admin("ops");

const BROKER = { subject: [commonName("broker")], extendedKeyUsage: ["serverAuth"] } as const;

/** Of the same authority. */
function newKey() {
  const { cert, key } = certificates.leaf(BROKER);
  return { cert, key };
}

function renewedCertificate(): string {
  const privateKey = createPrivateKey(certificates.broker.key);
  return certificates.leaf({ ...BROKER, keys: { privateKey, publicKey: createPublicKey(privateKey) } }).cert;
}
