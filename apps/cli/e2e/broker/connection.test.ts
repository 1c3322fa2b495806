import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  commonName,
  reply,
  type Script,
  startFakeBroker,
  testCertificates,
  writeCertificateFolder,
} from "@resource-broker/testkit";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { Finding } from "../../src/check/finding.ts";
import { DAY_MS, NOWHERE, runCli } from "../../src/testing/cli.ts";
import { startFleet } from "./testing/fleet.ts";

const fleet = await startFleet(afterAll);
const { expectDialogue } = fleet;
const { url, folder } = fleet;
const { leaf, authority, admin, cluster, broker } = fleet.certificates;
const longAgo = { notBefore: new Date("2020-01-01T00:00:00Z"), notAfter: new Date("2021-01-01T00:00:00Z") };
const other = authority({ subject: [commonName("Some other CA")] });
const FOLDERS = {
  expired: leaf({ subject: [commonName("rome")], ...longAgo }),
  foreign: leaf({ subject: [commonName("rome")] }, other),
  "wrong-ca": { ...admin("ops"), ca: other.cert },
  mixed: { ...admin("ops"), key: cluster("rome").key },
  nonsense: { cert: "nothing", key: "nothing", ca: "nothing" },
  stranger: (await testCertificates()).admin("stranger"),
};
for (const [name, contents] of Object.entries(FOLDERS))
  await writeCertificateFolder(join(folder, name), contents);
await mkdir(join(folder, "empty"));

const GET = "get clusters";
const EXPIRED = `it has expired; renew it\n  The certificate of rome from ${join(folder, "expired")} was used. Renew it: brokerctl certs renew rome`;
test.each<[code: number, name: string, who: string, line: string, says: string]>([
  [0, "all is well", "ops", GET, ""],
  [1, "nobody listens", "ops", `${GET} --broker ${NOWHERE}`, `${NOWHERE}: connection refused`],
  [1, "the cluster is unknown", "ops", `${GET} oslo`, 'no cluster "oslo"'],
  [2, "the address is none", "ops", `${GET} --broker localhost:8443`, "it must begin with https://"],
  [2, "the address has a path", "ops", `${GET} --broker https://x/api`, "it must end after the port"],
  [2, "the context is unknown", "ops", `${GET} --context eu`, 'no context "eu"'],
  [3, "nobody can lend that", "rome", "reserve --cpu 99 --memory 1Gi", "needs 83 more CPU"],
  [5, "the certificate has expired", "expired", "get reservations", EXPIRED],
  [5, "another authority signed it", "foreign", GET, "not issued by the broker's certificate authority"],
  [5, "the broker is another authority's", "wrong-ca", GET, "wrong-ca/ca.crt; if it is the right broker"],
  [5, "key and certificate differ", "mixed", GET, "mixed: tls.key is not the key of tls.crt"],
  [5, "the folder holds no certificates", "nonsense", GET, "tls.crt contains no PEM block"],
  [5, "the folder is empty", "empty", GET, "empty/tls.crt (ENOENT). --certs must name a folder with"],
  [5, "the certificate is no admin's", "rome", GET, "You are authenticated as rome"],
  [5, "it is about another cluster", "rome", `${GET} paris`, "brokerctl certs issue <your-name> --admin"],
])("the exit status is %i when %s", async (code, _, who, line, says) => {
  const { code: ended, out, err } = await fleet.as(who, line);
  expect({ ended, hasData: out !== "" }).toEqual({ ended: code, hasData: code === 0 });
  expect(err).toContain(says);
});

describe("what listens there", () => {
  const ask = (at: string, more = "") => fleet.as("ops", `${GET} --broker ${at}${more}`);
  const answering = async (script: Script): Promise<string> =>
    (await startFakeBroker({ credentials: broker, whenDone: onTestFinished, script })).url;

  test("but gives no answer in time: status 4", async () => {
    const silent = await answering(() => undefined);
    const err = `brokerctl: ${silent} gave no answer within 0.05 s; --request-timeout allows more\n`;
    expect(await ask(silent, " --request-timeout 50ms")).toMatchObject({ code: 4, err });
  });

  test("and is no broker, or cannot be understood: status 1", async () => {
    const page = await answering((response) => response.end("<html>"));
    const strange = await answering(reply(200, { items: 3 }));
    for (const [at, says] of [
      [page, `${page} answers, but not as a broker of this release does (200 "<html>")`],
      // Its probes are served without TLS.
      [`https://127.0.0.1:${fleet.broker.probePort}`, "does not use TLS; check the port"],
      [strange, "the answer is invalid: items"],
    ] as const)
      expect(await ask(at)).toMatchObject({ code: 1, err: expect.stringContaining(says) });
  });

  test("as several replicas is asked until one serves, but not in turn about a refusal", async () => {
    const standby = await answering(reply(503, { error: "broker-2 leads", code: "not-leader" }));
    expect(await ask([NOWHERE, standby, url].join(","))).toMatchObject({ code: 0, err: "" });
    await expectDialogue(
      ["ops", `${GET} --broker ${NOWHERE},${standby}`, 1, "broker-2 leads"],
      ["rome", `${GET} --broker ${url},${NOWHERE}`, 5],
    );
  });
});

describe("where the broker is", () => {
  /** In a home of its own beside the fleet's certificate folders, with this file. */
  async function inHome(text: string): Promise<string> {
    const home = await mkdtemp(join(folder, "home-"));
    await mkdir(join(home, ".config", "brokerctl"), { recursive: true });
    await writeFile(join(home, ".config", "brokerctl", "config.yaml"), text);
    return home;
  }
  const runIn = (env: Readonly<Record<string, string>>, line = GET) => runCli(line.split(" "), { env });
  const FILE = `current-context: here\ncontexts:\n  here: {broker: "${url}", certs: "${folder}/ops"}\n  gone: {broker: "${NOWHERE}", certs: ../../../ops}\n`;
  const elsewhere = { BROKERCTL_BROKER: NOWHERE };

  test.each<[name: string, code: number, flags: string, env?: Record<string, string>]>([
    ["is read from the file's current context", 0, ""],
    ["is the context that was named", 1, " --context gone"],
    ["is what the environment says before the file", 1, "", elsewhere],
    ["is what the flag says before the environment", 0, ` --broker ${url}`, elsewhere],
    [
      "is the named context before the environment",
      0,
      " --context here",
      { ...elsewhere, BROKERCTL_CERTS: join(folder, "empty") },
    ],
    ["is the flag's before the named context, whose certificates stay", 0, ` --context gone --broker ${url}`],
    ["is in the file that was named", 1, ` --config ${join(folder, "none.yaml")}`],
  ])("%s (status %i)", async (_, code, flags, env = {}) => {
    const { code: ended, err } = await runIn({ HOME: await inHome(FILE), ...env }, `${GET}${flags}`);
    expect({ ended, isQuiet: err === "" }).toEqual({ ended: code, isQuiet: code === 0 });
  });

  test.each([
    ["no YAML", "{", "is not YAML"],
    ["a list", "- a", "the file must be a map"],
    [
      "a slip in a field",
      "current-contxt: a",
      'has an unknown field "current-contxt"; did you mean current-context?',
    ],
    [
      "a slip in a context",
      "contexts: {eu: {cert: x}}",
      'contexts.eu has an unknown field "cert"; did you mean certs?',
    ],
    ["a number for an address", "contexts: {eu: {broker: 1}}", "contexts.eu.broker must be a string"],
    ["a context that is not there", "current-context: ue\ncontexts: {eu: {}}", "did you mean eu?"],
    ["nothing", "", "name its folder with --certs, BROKERCTL_CERTS or a context"],
  ])("a file with %s is reported", async (_, text, says) => {
    const { code, err } = await runIn({ HOME: await inHome(text) });
    expect(code).toBeGreaterThan(0);
    expect(err).toContain(says);
  });

  test("a file that cannot be read is left out with a warning, unless it or a context in it was named", async () => {
    const HOME = await mkdtemp(join(folder, "home-"));
    const file = join(HOME, ".config", "brokerctl", "config.yaml");
    // A folder in its place: also root, as whom tests may run, cannot read that.
    await mkdir(file, { recursive: true });
    const given = { HOME, BROKERCTL_BROKER: url, BROKERCTL_CERTS: join(folder, "ops") };
    const { err } = await runIn({ HOME }, `${GET} --broker ${url}`);
    expect(err).toContain(`Warning: ${file} cannot be read and is ignored: `);
    for (const line of [GET, "--help", "version --output=json", "completion bash"])
      expect(await runIn(given, line)).toMatchObject({ code: 0, err: "" });
    const says = expect.stringContaining(`cannot read ${file}: `);
    for (const flag of [`--config ${file}`, "--context here"])
      expect(await runIn(given, `${GET} ${flag}`)).toMatchObject({ code: 1, err: says });
  });

  test("is found under XDG_CONFIG_HOME, with ~ in the file", async () => {
    const HOME = await inHome(`contexts: {a: {broker: "${url}", certs: ~/../ops}}\n`);
    const env = { HOME, XDG_CONFIG_HOME: join(HOME, ".config") };
    expect(await runIn(env, `${GET} --context a`)).toMatchObject({ code: 0 });
  });
});

describe("check --only broker", () => {
  const now = (): number => Math.round(performance.timeOrigin + performance.now());

  test("prints a line for each check, status 0, where all is in order", async () => {
    const { code, out, err } = await fleet.asWith({ now }, "ops", "check --only broker");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const first = ["✓ certificate .*ops \\(admin\\)", "✓ broker TLS .*TLSv1\\.3"];
    const rest = ["✓ broker +.*answers to ops: protocol 3, ledger \\S+", "✓ clock ", "✓ agents .*berlin "];
    for (const expected of [...first, ...rest]) expect(out).toMatch(new RegExp(`^${expected}`, "mu"));
    expect(out.trimEnd().split("\n")).toHaveLength(5);
  });

  interface Row {
    readonly name: string;
    readonly who?: string;
    readonly now?: () => number;
    readonly env?: Readonly<Record<string, string>>;
    readonly states: Readonly<Record<string, Finding["status"]>>;
    /** A check, and what its message and remedy say. */
    readonly says: readonly [check: string, words: RegExp];
  }
  test.each<Row>([
    {
      name: "a cluster is told of itself alone",
      who: "rome",
      states: { agents: "ok" },
      says: ["agents", /^last advertisement: rome \d+s ago/u],
    },
    {
      name: "a folder that is not there",
      env: { BROKERCTL_CERTS: "/nowhere" },
      states: { certificate: "failed", "broker TLS": "skipped", broker: "skipped", clock: "skipped" },
      says: ["certificate", /brokerctl certs issue/u],
    },
    {
      name: "a port where nobody listens",
      env: { BROKERCTL_BROKER: NOWHERE },
      states: { certificate: "ok", "broker TLS": "failed", broker: "skipped", agents: "skipped" },
      says: ["broker TLS", /connection refused/u],
    },
    {
      name: "a clock that runs ahead",
      now: () => now() - 300_000,
      states: { clock: "failed" },
      says: ["clock", /^the broker's clock is (4|5)m ahead of the local clock .*NTP/u],
    },
    {
      name: "an expired certificate",
      now: () => now() + 40_000 * DAY_MS,
      states: { certificate: "failed" },
      says: ["certificate", /expired/u],
    },
    {
      name: "an authority that signed another broker",
      who: "stranger",
      states: { "broker TLS": "failed" },
      says: ["broker TLS", /ca\.crt/u],
    },
  ])("finds, with what to do: $name", async ({ who = "ops", states, says: [check, words], ...world }) => {
    const outcome = await fleet.asWith({ now, ...world }, who, "check --only broker -o json");
    const all = JSON.parse(outcome.out) as Finding[];
    const found = Object.fromEntries(all.map((finding) => [finding.name, finding]));
    expect(Object.keys(found)).toEqual(["certificate", "broker TLS", "broker", "clock", "agents"]);
    const failed = all.filter(({ status }) => status === "failed").length;
    expect(outcome.code).toBe(failed === 0 ? 0 : 1);
    expect(outcome.err).toContain(failed === 0 ? "" : `${failed} of 5 checks failed`);
    for (const [name, status] of Object.entries(states)) expect(found[name]?.status).toBe(status);
    expect(`${found[check]?.message} ${found[check]?.remedy}`).toMatch(words);
  });
});
