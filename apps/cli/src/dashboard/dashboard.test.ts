import { join } from "node:path";
import { reply, startFakeBroker, testCertificates, writeCertificateFolder } from "@resource-broker/testkit";
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
  const { url, received } = await startFakeBroker({
    credentials: certificates.broker,
    whenDone: onTestFinished,
    script: reply(answers.status, answers.body, { Date: new Date(AT).toUTCString() }),
  });
  const folder = await temporaryFolder(onTestFinished);
  await writeCertificateFolder(join(folder, "ops"), certificates.admin("ops"));
  return {
    asked: () =>
      received.map(({ method, url, body }) => ({
        call: `${method} ${url}`,
        body: JSON.parse(body) as unknown,
      })),
    run: (args: readonly string[], world: Parameters<typeof runCli>[1] = {}) =>
      runCli(["dashboard", ...args, "--broker", url, "--certs", join(folder, "ops")], world),
  };
}

const TUNNEL = "ssh -N -L 127.0.0.1:8090:127.0.0.1:8090 <";
test.each<[name: string, more: Partial<typeof LINK>, says: readonly string[], saysNot?: string]>([
  ["is printed alone, and beside it how to use it", {}, ["once, for 120 seconds, as admin.", TUNNEL]],
  ["with [::1]", { url: "http://[::1]:8090/#token=abc" }, ["ssh -N -L [::1]:8090:[::1]:8090 <"]],
  ["with localhost", { url: "http://localhost:8090/#t=a" }, ["-L localhost:8090:localhost:8090 <"]],
  // The broker tells its time in whole seconds: no link seems to work longer than it does.
  ["with an odd second", { expiresAt: new Date(AT + 120_900).toISOString() }, ["for 120 seconds"]],
  ["to another machine needs no way there", { url: "https://broker.example.org:8090/#t=a" }, [], "ssh"],
])("a link %s", async (_, more, says, saysNot = "nothing else") => {
  const link = { ...LINK, ...more };
  const { run, asked } = await brokerThat({ status: 201, body: link });
  const { code, out, err } = await run([]);
  expect({ code, out }).toEqual({ code: 0, out: `${link.url}\n` });
  for (const words of says) expect(err).toContain(words);
  expect(err).not.toContain(saysNot);
  expect(asked()).toEqual([{ call: "POST /api/v1/dashboard/links", body: { role: "admin" } }]);
});

test("--viewer asks for a link that changes nothing, and -o json prints all of it", async () => {
  const { run, asked } = await brokerThat({ status: 201, body: { ...LINK, role: "viewer" } });
  const { out } = await run(["--viewer", "-o", "json"]);
  expect(JSON.parse(out)).toEqual({ ...LINK, role: "viewer" });
  expect(asked()[0]?.body).toEqual({ role: "viewer" });
});

test("--open hands the link to a browser and keeps it from the terminal, or prints it where there is none", async () => {
  const { run } = await brokerThat({ status: 201, body: LINK });
  const opened: string[] = [];
  const { out, err } = await run(["--open"], { openInBrowser: async (url) => opened.push(url) > 0 });
  expect(opened).toEqual([LINK.url]);
  expect(out + err).toBe("Opening the dashboard in a browser, as admin …\n");
  const without = await run(["--open"], { openInBrowser: () => Promise.resolve(false) });
  expect(without.out).toBe(`${LINK.url}\n`);
  expect(without.err).toContain("No browser could be started here");
});

const OFF = "the dashboard is off: start the broker with --dashboard-bind-address=127.0.0.1:8090";
test.each([
  ["whose dashboard is off", OFF, "dashboard.enabled=true", "older"],
  [
    "that is older than the dashboard",
    "there is no such API call",
    "update it first",
    "the dashboard is off",
  ],
])("a broker %s: it is said what to do", async (_, error, says, saysNot) => {
  const { run } = await brokerThat({ status: 404, body: { error, code: "not-found" } });
  const { code, out, err } = await run(["--open"], { openInBrowser: () => Promise.resolve(true) });
  expect({ code, out }).toEqual({ code: 1, out: "" });
  for (const words of [error, says, "--dashboard-bind-address=127.0.0.1:8090"]) expect(err).toContain(words);
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
