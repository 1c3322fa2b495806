import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { testCertificates, writeCertificateFolder } from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { runCli, temporaryFolder } from "../testing/cli.ts";

const AT = Date.UTC(2026, 0, 15, 12);
const LINK = {
  url: "http://127.0.0.1:8090/#token=abc",
  role: "admin",
  expiresAt: new Date(AT + 120_000).toISOString(),
};

/** A broker that knows this one call, and brokerctl with an admin's certificate. */
async function brokerThat(answers: { readonly status: number; readonly body: object }) {
  const certificates = await testCertificates();
  const asked: { call: string; body: unknown }[] = [];
  const server = createServer(
    { cert: certificates.broker.cert, key: certificates.broker.key },
    (request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        asked.push({ call: `${request.method} ${request.url}`, body: JSON.parse(body) as unknown });
        response.writeHead(answers.status, {
          "Content-Type": "application/json",
          "Broker-Protocol": "2",
          Date: new Date(AT).toUTCString(),
        });
        response.end(JSON.stringify(answers.body));
      });
    },
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const folder = await temporaryFolder(onTestFinished);
  await writeCertificateFolder(join(folder, "ops"), certificates.admin("ops"));
  const { port } = server.address() as AddressInfo;
  const connection = ["--broker", `https://127.0.0.1:${port}`, "--certs", join(folder, "ops")];
  return {
    asked,
    run: (args: readonly string[], world: Parameters<typeof runCli>[1] = {}) =>
      runCli(["dashboard", ...args, ...connection], world),
  };
}

test("prints the link alone, and beside it how to use it", async () => {
  const { run, asked } = await brokerThat({ status: 201, body: LINK });
  const { code, out, err } = await run([]);
  expect({ code, out, err }).toMatchObject({ code: 0, out: `${LINK.url}\n` });
  expect(err).toContain("It works once, for 120 seconds, as admin.");
  expect(err).toContain("ssh -N -L 127.0.0.1:8090:127.0.0.1:8090 <");
  expect(asked).toEqual([{ call: "POST /api/v1/dashboard/links", body: { role: "admin" } }]);
});

test.each(["[::1]", "127.0.0.7", "localhost"])("the way to %s leads there", async (name) => {
  const { run } = await brokerThat({ status: 201, body: { ...LINK, url: `http://${name}:8090/#token=abc` } });
  expect((await run([])).err).toContain(`ssh -N -L ${name}:8090:${name}:8090 <`);
});

test("the broker tells its time in whole seconds: no link seems to work longer than it does", async () => {
  const expiresAt = new Date(AT + 120_900).toISOString();
  const { run } = await brokerThat({ status: 201, body: { ...LINK, expiresAt } });
  expect((await run([])).err).toContain("for 120 seconds");
});

test("a link to another machine needs no way there", async () => {
  const link = { ...LINK, url: "https://broker.example.org:8090/#token=abc" };
  const { run } = await brokerThat({ status: 201, body: link });
  expect((await run([])).err).not.toContain("ssh");
});

test("--viewer asks for a link that changes nothing, and -o json prints all of it", async () => {
  const { run, asked } = await brokerThat({ status: 201, body: { ...LINK, role: "viewer" } });
  const { out } = await run(["--viewer", "-o", "json"]);
  expect(JSON.parse(out)).toEqual({ ...LINK, role: "viewer" });
  expect(asked[0]?.body).toEqual({ role: "viewer" });
});

test("--open hands the link to a browser and keeps it from the terminal", async () => {
  const { run } = await brokerThat({ status: 201, body: LINK });
  const opened: string[] = [];
  const openInBrowser = async (url: string) => opened.push(url) > 0;
  const { out, err } = await run(["--open"], { openInBrowser });
  expect(opened).toEqual([LINK.url]);
  expect(out + err).toBe("Opening the dashboard in a browser, as admin …\n");
});

test("--open prints the link where there is no browser", async () => {
  const { run } = await brokerThat({ status: 201, body: LINK });
  const { out, err } = await run(["--open"], { openInBrowser: () => Promise.resolve(false) });
  expect(out).toBe(`${LINK.url}\n`);
  expect(err).toContain("No browser could be started here");
});

test.each([
  {
    name: "whose dashboard is off",
    error: "the dashboard is off: start the broker with --dashboard-bind-address=127.0.0.1:8090",
    says: ["the dashboard is off: start the broker with --dashboard-bind-address", "dashboard.enabled=true"],
    saysNot: "older",
  },
  {
    name: "that is older than the dashboard",
    error: "there is no such API call; /openapi.json lists all of them",
    says: ["there is no such API call", "update it first", "--dashboard-bind-address=127.0.0.1:8090"],
    saysNot: "the dashboard is off",
  },
])("a broker $name: it is said what to do", async ({ error, says, saysNot }) => {
  const { run } = await brokerThat({ status: 404, body: { error, code: "not-found" } });
  const { code, out, err } = await run(["--open"], { openInBrowser: () => Promise.resolve(true) });
  expect({ code, out }).toEqual({ code: 1, out: "" });
  for (const words of says) expect(err).toContain(words);
  expect(err).not.toContain(saysNot);
});

test.each(["javascript:alert(1)", "file:///etc/passwd", "not an address"])(
  "a link to %s is given to no browser",
  async (url) => {
    const { run } = await brokerThat({ status: 201, body: { ...LINK, url } });
    const opened: string[] = [];
    const openInBrowser = async (address: string) => opened.push(address) > 0;
    const { code, out, err } = await run(["--open"], { openInBrowser });
    expect({ code, out, opened }).toEqual({ code: 1, out: "", opened: [] });
    expect(err).toMatch(/no address of a page|is not what it should be/);
  },
);
