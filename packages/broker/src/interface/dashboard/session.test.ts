import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { listenTo, type TestReply } from "../http/testing/call.ts";
import { BY_OPS, certificates, runningDashboards, tokenIn } from "./testing/running-dashboard.ts";

const start = runningDashboards();

describe("a link", () => {
  test("is made by an admin over the API, leads to the dashboard and holds its token behind the #", async () => {
    const { broker, port, time } = await start();
    const reply = await broker.call(certificates.admin("ops"), "POST /api/v1/dashboard/links");
    expect(reply.status).toBe(201);
    expect(reply.json).toEqual({
      url: expect.stringMatching(`^http://127\\.0\\.0\\.1:${port}/#token=[\\w-]{43}$`),
      role: "admin",
      expiresAt: new Date(time.wallMs() + 120_000).toISOString(),
    });
  });

  test("signs in once: the second browser is turned away", async () => {
    const running = await start();
    const { url } = running.dashboard.makeLink({ role: "viewer", ...BY_OPS });
    const first = await signIn(running, tokenIn(url));
    expect(first).toMatchObject({
      status: 200,
      json: {
        role: "viewer",
        name: "ops",
        by: "link",
        version: "1.2.3",
        apiURL: "https://127.0.0.1:8443",
        objectsNamespace: null,
        ledgerID: running.broker.engine.ledgerId,
      },
    });
    const [cookie = ""] = first.headers["set-cookie"] ?? [];
    expect(cookie).toMatch(
      new RegExp(
        `^broker-dashboard-${running.port}=[\\w.-]{150,500}; Max-Age=43200; Path=/; HttpOnly; SameSite=Strict$`,
      ),
    );
    expect(running.broker.logged.filter((line) => line.includes("dashboard")).join()).not.toContain(
      tokenIn(url),
    );
    const second = await signIn(running, tokenIn(url));
    expect(second).toMatchObject({ status: 401, json: { code: "no-certificate" } });
    expect(second.headers["set-cookie"]).toBeUndefined();
  });

  test("is good for two minutes", async () => {
    const time = fakeClock();
    const running = await start({ time });
    const early = running.dashboard.makeLink({ role: "admin", ...BY_OPS });
    const late = running.dashboard.makeLink({ role: "admin", ...BY_OPS });
    await time.advance(119_999);
    expect(await signIn(running, tokenIn(early.url))).toMatchObject({ status: 200 });
    await time.advance(1);
    expect(await signIn(running, tokenIn(late.url))).toMatchObject({ status: 401 });
  });

  test.each([
    { name: "a token that nobody made", body: { token: "x".repeat(43) }, status: 401 },
    { name: "no token", body: {}, status: 400 },
    { name: "a token that is no text", body: { token: 7 }, status: 400 },
    { name: "a token that is too long", body: { token: "x".repeat(500) }, status: 400 },
    { name: "an endless token", body: { token: "x".repeat(10_000) }, status: 413 },
    { name: "no JSON", body: "token=1", status: 400 },
  ])("$name signs nobody in", async ({ body, status }) => {
    const running = await start();
    const reply = await running.visit("POST /api/v1/dashboard/session", {
      body,
      headers: ownHeaders(running.port),
    });
    expect(reply.status).toBe(status);
  });
});

describe("a viewer", () => {
  test.each([
    "POST /api/v1/clusters/paris/cordon",
    "POST /api/v1/clusters/paris/uncordon",
    "DELETE /api/v1/reservations/rsv-x",
    "POST /api/v1/reservations?requester=paris",
    "POST /api/v1/adoptions/window",
  ])("may not %s", async (what) => {
    const { signIn: enter, advertise } = await start();
    await advertise("paris");
    const viewer = await enter("viewer");
    expect(await viewer.send(what)).toMatchObject({ status: 403, json: { code: "forbidden" } });
  });

  test("may ask what would happen", async () => {
    const { signIn: enter, advertise } = await start();
    await advertise("paris");
    const viewer = await enter("viewer");
    const body = { requestedResources: { cpu: "1", memory: "1Gi" } };
    expect(await viewer.send("POST /api/v1/quotes?weights=cost:1", body)).toMatchObject({ status: 200 });
  });
});

test("a session makes no links: they need the certificate itself", async () => {
  const { signIn: enter } = await start();
  const admin = await enter();
  expect(await admin.send("POST /api/v1/dashboard/links")).toMatchObject({ status: 401 });
});

function ownHeaders(port: number): Record<string, string> {
  return { Origin: `http://127.0.0.1:${port}`, "X-Broker-Dashboard": "1" };
}

function signIn(
  { visit, port }: Awaited<ReturnType<typeof start>>,
  token: string,
): ReturnType<Awaited<ReturnType<typeof start>>["visit"]> {
  return visit("POST /api/v1/dashboard/session", { body: { token }, headers: ownHeaders(port) });
}

describe("an admin whose certificate is no longer good", () => {
  const ops = certificates.admin("ops");
  const links = "POST /api/v1/dashboard/links";

  test("takes along who came by a link of theirs, streams too, and links that nobody used", async () => {
    const running = await start();
    const { broker, port, time } = running;
    const linkOf = async (who: typeof ops) =>
      tokenIn(((await broker.call(who, links)).json as { url: string }).url);
    const unused = await linkOf(ops);
    const mine = { Cookie: cookieOf(await signIn(running, await linkOf(ops))) };
    const others = { Cookie: cookieOf(await signIn(running, await linkOf(certificates.admin("eve")))) };
    const stream = await listenTo({ port }, "GET /api/v1/events", { headers: mine });
    await stream.receives("event: hello");
    running.replaceCertificates({ crl: certificates.crl([ops]) });
    expect(await running.visit("GET /api/v1/dashboard/session", { headers: mine })).toMatchObject({
      status: 401,
    });
    expect(await running.visit("GET /api/v1/dashboard/session", { headers: others })).toMatchObject({
      status: 200,
    });
    expect(await signIn(running, unused)).toMatchObject({ status: 401 });
    await time.advance(4000);
    await stream.closed;
  });

  test("is shown out, in the middle of a stream too, where the certificate itself signed in", async () => {
    const { port, visitAs, replaceCertificates } = await start({ host: "" });
    const stream = await listenTo({ port, credentials: ops }, "GET /api/v1/events");
    await stream.receives("event: hello");
    replaceCertificates({ crl: certificates.crl([ops]) });
    await stream.closed;
    expect(await visitAs(ops, "GET /api/v1/dashboard/session")).toMatchObject({ status: 401 });
    expect(await visitAs(certificates.admin("eve"), "GET /api/v1/dashboard/session")).toMatchObject({
      status: 200,
    });
  });
});

function cookieOf({ headers }: TestReply): string {
  return headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
}
