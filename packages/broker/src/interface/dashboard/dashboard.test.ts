import { connect } from "node:net";
import { Fault } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import type { TestReply } from "../http/testing/call.ts";
import { BY_OPS, certificates, runningDashboards } from "./testing/running-dashboard.ts";

const start = runningDashboards();
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function expectGuarded({ headers }: Pick<TestReply, "headers">): void {
  expect(headers).toMatchObject({
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  });
}

describe("every answer carries the security headers:", () => {
  test.each([
    { what: "GET /", status: 200, cache: "no-store" },
    { what: "GET /assets/main-a1b2c3.js", status: 200, cache: "public, max-age=31536000, immutable" },
    { what: "GET /favicon.svg", status: 200, cache: "no-cache" },
    { what: "GET /missing.js", status: 404, cache: "no-store" },
    { what: "POST /", status: 405, cache: "no-store" },
    { what: "GET /api/v1/dashboard/session", status: 401, cache: "no-store" },
    { what: "GET /api/v1/nothing", status: 401, cache: "no-store" },
    // Agents join at the API's own port only.
    { what: "GET /api/v1/trust", status: 401, cache: "no-store" },
    { what: "POST /api/v1/enroll", status: 403, cache: "no-store" },
    { what: "PUT /api/v1/advertisements", status: 403, cache: "no-store" },
  ])("$what", async ({ what, status, cache }) => {
    const { visit } = await start();
    const reply = await visit(what);
    expect(reply.status).toBe(status);
    expect(reply.headers["cache-control"]).toBe(cache);
    expectGuarded(reply);
  });
});

describe("pages", () => {
  test.each([
    "/",
    "/fleet",
    "/reservations/rsv-rome-1",
    "/why/dec-1",
    "/fleet/eu.paris",
    "/reservations/rsv-a.b.js",
    "/decisions/..%2f..%2fsecret.js",
    "/fleet?q=x.y",
  ])("%s begins with the same file, so that a deep link survives a reload", async (path) => {
    const { visit } = await start();
    const reply = await visit(`GET ${path}`);
    expect(reply).toMatchObject({ status: 200, text: "<!doctype html><title>pages</title>" });
    expect(reply.headers["content-type"]).toBe("text/html; charset=utf-8");
  });

  test.each([
    { accepts: "gzip, deflate, br", file: "/", encoding: "br", text: "packed by brotli" },
    { accepts: "br;q=0, gzip", file: "/", encoding: undefined, text: "<!doctype html><title>pages</title>" },
    { accepts: "gzip, br", file: "/assets/main-a1b2c3.js", encoding: "gzip", text: "packed by gzip" },
    { accepts: "", file: "/assets/main-a1b2c3.js", encoding: undefined, text: "export {};" },
  ])("$file for a browser that accepts '$accepts'", async ({ accepts, file, encoding, text }) => {
    const { visit } = await start();
    const reply = await visit(`GET ${file}`, { headers: { "Accept-Encoding": accepts } });
    expect(reply.text).toBe(text);
    expect(reply.headers["content-encoding"]).toBe(encoding);
    expect(reply.headers["vary"]).toBe("Accept-Encoding");
  });

  test.each([
    "/../package.json",
    "/assets/../../secret.js",
    "/assets/%2e%2e/index.html.br",
    "//etc/passwd.txt",
    "/fleet/../../package.json",
    "/fleet/a/b.js",
    "/.env",
  ])("%s is no way out of the folder", async (path) => {
    const { visit } = await start();
    expect(await visit(`GET ${path}`)).toMatchObject({ status: 404 });
  });
});

describe("what is not read", () => {
  test("a method that an address does not take is answered with those it takes", async () => {
    const { visit, signIn } = await start();
    const { send } = await signIn();
    const call = await send("POST /api/v1/reservations/rsv-1");
    expect(call).toMatchObject({ status: 405, headers: { allow: "DELETE, GET" } });
    expectGuarded(call);
    expect(await visit("POST /fleet")).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
  });
});

describe("a replica that does not lead", () => {
  test("says so on every page and on every call", async () => {
    const notLeading = () => new Fault("not-leader", "this replica is not the leader (standby: <b>rome</b>)");
    const { visit } = await start({ notLeading });
    const page = await visit("GET /fleet");
    expect(page.status).toBe(503);
    expect(page.text).toContain("This replica is not the leader (standby: &lt;b&gt;rome&lt;/b&gt;)");
    expectGuarded(page);
    const call = await visit("GET /api/v1/dashboard/session");
    expect(call).toMatchObject({ status: 503, json: { code: "not-leader" } });
  });
});

describe("who may call", () => {
  test.each([
    { name: "localhost", host: (port: number) => `localhost:${port}`, status: 200 },
    { name: "LOCALHOST", host: (port: number) => `LOCALHOST:${port}`, status: 200 },
    { name: "[::1]", host: (port: number) => `[::1]:${port}`, status: 200 },
    {
      name: "a name that an attacker turned here",
      host: (port: number) => `evil.example:${port}`,
      status: 403,
    },
    { name: "another port", host: () => "127.0.0.1:1", status: 403 },
    { name: "no port", host: () => "127.0.0.1", status: 403 },
    {
      name: "a name that only begins well",
      host: (port: number) => `127.0.0.1:${port}.evil.example`,
      status: 403,
    },
  ])("Host $name is answered with $status", async ({ host, status }) => {
    const { visit, port, signIn } = await start();
    const { cookie } = await signIn();
    const headers = { Host: host(port), Cookie: cookie };
    expect(await visit("GET /", { headers })).toMatchObject({ status });
    expect(await visit("GET /api/v1/dashboard/session", { headers })).toMatchObject({ status });
  });

  test.each([
    { name: "two names, the first one good", hosts: (own: string) => [own, "evil.example"] },
    { name: "two names, the last one good", hosts: (own: string) => ["evil.example", own] },
    { name: "a whole address", target: "http://evil.example/api/v1/dashboard/session" },
    { name: "a whole address of its own", target: (own: string) => `http://${own}/api/v1/dashboard/session` },
    { name: "no path", target: "*" },
  ])(
    "a request with $name is not understood",
    async ({ hosts = (own) => [own], target = "/api/v1/dashboard/session" }) => {
      const { port, signIn } = await start();
      const { cookie } = await signIn();
      const own = `127.0.0.1:${port}`;
      const path = typeof target === "string" ? target : target(own);
      const head = [
        `GET ${path} HTTP/1.1`,
        ...hosts(own).map((host) => `Host: ${host}`),
        `Cookie: ${cookie}`,
      ];
      expect(await rawRequest(port, head)).toMatch(/^HTTP\/1\.1 400 /);
      const page = [`GET ${path.replace("/api/v1/dashboard/session", "/fleet")} HTTP/1.1`, ...head.slice(1)];
      expect(await rawRequest(port, page)).toMatch(/^HTTP\/1\.1 400 /);
    },
  );

  const site = (value: string) => ({ "Sec-Fetch-Site": value });
  test.each([
    { name: "its own page", headers: (origin: string) => ({ ...OWN, Origin: origin }), status: 200 },
    {
      name: "its own page, by the browser's word",
      headers: () => ({ ...OWN, ...site("same-origin") }),
      status: 200,
    },
    { name: "without the header", headers: (origin: string) => ({ Origin: origin }), status: 403 },
    { name: "without an origin", headers: () => OWN, status: 403 },
    { name: "another site", headers: () => ({ ...OWN, Origin: "https://evil.example" }), status: 403 },
    {
      name: "another port of this machine",
      headers: () => ({ ...OWN, Origin: "http://127.0.0.1:1" }),
      status: 403,
    },
    {
      name: "the same name over https",
      headers: (origin: string) => ({ ...OWN, Origin: origin.replace("http", "https") }),
      status: 403,
    },
    { name: "a sandboxed page", headers: () => ({ ...OWN, Origin: "null" }), status: 403 },
    {
      name: "another site that forged the origin",
      headers: (origin: string) => ({ ...OWN, Origin: origin, ...site("cross-site") }),
      status: 403,
    },
    { name: "a sibling on this machine", headers: () => ({ ...OWN, ...site("same-site") }), status: 403 },
  ])("an action called by $name: $status", async ({ headers, status }) => {
    const { visit, port, signIn, advertise } = await start();
    await advertise("paris");
    const { cookie } = await signIn();
    const reply = await visit("POST /api/v1/clusters/paris/cordon", {
      headers: { Cookie: cookie, ...headers(`http://127.0.0.1:${port}`) },
    });
    expect(reply.status).toBe(status);
  });

  test.each([
    { name: "another site, by the browser's word", headers: site("cross-site") },
    { name: "another port of this machine, by the browser's word", headers: site("same-site") },
    { name: "another origin", headers: { Origin: "http://127.0.0.1:1" } },
    { name: "a sandboxed page", headers: { Origin: "null" } },
  ])("reading is refused to $name as well", async ({ headers }) => {
    const { visit, signIn } = await start();
    const { cookie } = await signIn();
    const reply = await visit("GET /api/v1/advertisements", { headers: { Cookie: cookie, ...headers } });
    expect(reply.status).toBe(403);
  });

  test("whoever calls too often waits", async () => {
    const { visit } = await start({ limits: { requestsPerSecond: 1, requestBurst: 2 } });
    const statuses: number[] = [];
    for (let call = 0; call < 3; call++)
      statuses.push(
        (await visit("GET /api/v1/dashboard/session", { headers: { "Agent-Protocol": "2" } })).status,
      );
    expect(statuses).toEqual([401, 401, 429]);
    expect(await visit("GET /")).toMatchObject({ status: 200 });
  });
});
const OWN = { "X-Broker-Dashboard": "1" };

/** As no HTTP client would send it. */
async function rawRequest(port: number, head: readonly string[]): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.setEncoding("utf8").write(`${head.join("\r\n")}\r\nConnection: close\r\n\r\n`);
  let heard = "";
  for await (const text of socket) heard += String(text);
  return heard;
}

describe("over TLS", () => {
  const name = "localhost";

  test("an admin's certificate signs in by itself, and acts", async () => {
    const { visitAs, port, advertise, broker } = await start({ host: "" });
    await advertise("paris");
    const ops = certificates.admin("ops");
    expect(await visitAs(ops, "GET /api/v1/dashboard/session")).toMatchObject({
      status: 200,
      json: { role: "admin", by: "certificate", name: "ops", apiURL: "https://127.0.0.1:8443" },
    });
    const headers = { ...OWN, Origin: `https://127.0.0.1:${port}` };
    expect(await visitAs(ops, "POST /api/v1/clusters/paris/cordon", { headers })).toMatchObject({
      status: 200,
    });
    expect(broker.engine.ledger.accounts.get("paris")?.cordon?.by).toBe("ops");
    expect(await visitAs(ops, "POST /api/v1/clusters/paris/uncordon")).toMatchObject({ status: 403 });
  });

  test("a cluster's certificate opens nothing: the page and the call say why", async () => {
    const { visitAs } = await start({ host: "" });
    const rome = certificates.cluster("rome");
    const page = await visitAs(rome, "GET /fleet");
    expect(page.status).toBe(403);
    expect(page.text).toContain("The certificate is that of cluster rome");
    expectGuarded(page);
    const call = await visitAs(rome, "GET /api/v1/advertisements");
    expect(call).toMatchObject({ status: 403, json: { code: "forbidden" } });
  });

  test("without a certificate a link signs in, and the cookie is for this host and TLS only", async () => {
    const running = await start({ host: "" });
    expect(await running.visitAs(undefined, "GET /")).toMatchObject({ status: 200 });
    expect(await running.visitAs(undefined, "GET /api/v1/dashboard/session")).toMatchObject({ status: 401 });
    const { url } = running.dashboard.makeLink({ role: "viewer", ...BY_OPS });
    expect(url).toMatch(`https://${name}:${running.port}/#token=`);
    const { cookie } = await running.signIn("viewer");
    expect(cookie).toMatch(/^__Host-broker-dashboard=/);
    const headers = { Cookie: cookie };
    expect(await running.visitAs(undefined, "GET /api/v1/dashboard/session", { headers })).toMatchObject({
      status: 200,
      json: { role: "viewer", by: "link" },
    });
  });

  test("only names of the certificate are answered", async () => {
    const { visitAs, port } = await start({ host: "" });
    const status = async (Host: string) => (await visitAs(undefined, "GET /", { headers: { Host } })).status;
    expect(await status(`${name}:${port}`)).toBe(200);
    expect(await status(name)).toBe(200);
    expect(await status(`evil.example:${port}`)).toBe(403);
    expect(await status("127.0.0.2")).toBe(403);
  });
});
