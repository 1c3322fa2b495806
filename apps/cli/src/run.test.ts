import { LIMIT } from "@resource-broker/contract";
import { WAITING_REASONS } from "@resource-broker/domain";
import { testCertificates, writeCertificateFolder } from "@resource-broker/testkit";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { type Entry, findEntry, isGroup } from "./cli/command.ts";
import { ROOT } from "./commands/commands.ts";
import { NOWHERE, runCli, temporaryFolder } from "./testing/cli.ts";

const SMALL = ["--cpu", "1", "--memory", "1Gi"];
const TOO_LONG = "x".repeat(LIMIT.reasonLength + 1);
const certs = await temporaryFolder(afterAll);
await writeCertificateFolder(certs, (await testCertificates()).cluster("rome"));

describe("help", () => {
  const entries = everyEntry(ROOT, []);

  test.each(entries)(
    "of $path says what it does, names every option and fits a terminal",
    async ({ words, entry }) => {
      const { code, out, err } = await runCli([...words, "--help"]);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out).toContain(`${entry.summary}.`);
      expect(out).toContain(`Usage: ${["brokerctl", ...words].join(" ")}`);
      expect(out.split("\n").filter((line) => line.length > 104)).toEqual([]);
      for (const name of isGroup(entry) ? [] : Object.keys(entry.options)) expect(out).toContain(`--${name}`);
    },
  );

  test("is reached by the word help as well", async () => {
    expect(await runCli(["help", "certs", "issue"])).toEqual(await runCli(["certs", "issue", "--help"]));
  });

  test("of the queue names every reason to wait", async () => {
    const { out } = await runCli(["get", "queue", "--help"]);
    for (const reason of WAITING_REASONS) expect(out).toMatch(new RegExp(`\\b${reason}\\b`, "u"));
  });

  test("is shown on standard error, with status 2, when the command is missing", async () => {
    const { code, out, err } = await runCli(["certs"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("Usage: brokerctl certs <command>");
  });
});

describe("a wrong command line ends with status 2 and says what is right", () => {
  test.each([
    { args: ["cert", "init"], says: 'there is no command "brokerctl cert"; did you mean certs?' },
    {
      args: ["certs", "isue", "rome"],
      says: 'there is no command "brokerctl certs isue"; did you mean issue?',
    },
    {
      args: ["issue", "rome"],
      says: 'there is no command "brokerctl issue"; did you mean brokerctl certs issue?',
    },
    {
      args: ["certs", "frobnicate"],
      says: 'there is no command "brokerctl certs frobnicate"; write one of init, issue, sign, renew, revoke, show\n',
    },
    { args: ["frobnicate"], says: 'there is no command "brokerctl frobnicate"\n' },
    { args: ["--dir", "x", "certs", "init"], says: "write the command first, then --dir" },
    {
      args: ["certs", "issue", "rome", "--amdin"],
      says: "there is no option --amdin here; did you mean --admin?",
    },
    { args: ["certs", "issue", "rome", "-x"], says: "there is no option -x here" },
    { args: ["certs", "issue", "rome", "--toString"], says: "there is no option --toString here" },
    { args: ["certs", "issue"], says: "<cluster-id> is missing: the cluster's ID" },
    { args: ["certs", "issue", "rome", "paris"], says: '"paris" is an unexpected argument' },
    { args: ["certs", "issue", "rome", "--admin=yes"], says: '--admin takes no value; leave "=yes" out' },
    { args: ["certs", "issue", "rome", "--days"], says: "--days needs a value" },
    { args: ["certs", "issue", "rome", "--days", "--admin"], says: "--days needs a value" },
    {
      args: ["certs", "issue", "rome", "--days", "0"],
      says: '--days "0": write a whole number from 1 to 36500',
    },
    { args: ["certs", "issue", "rome", "--days=-1"], says: '--days "-1": write a whole number' },
    { args: ["certs", "issue", "rome", "--days", "1.5"], says: '--days "1.5": write a whole number' },
    { args: ["certs", "issue", "rome", "--days", "1e3"], says: '--days "1e3": write a whole number' },
    {
      args: ["certs", "issue", "rome", "--days", "36501"],
      says: '--days "36501": write a whole number from 1 to 36500',
    },
    { args: ["certs", "issue", "rome", "--dir="], says: "--dir is empty" },
    {
      args: ["certs", "show", "-o", "jsno"],
      says: '--output "jsno": write one of table, wide, json, yaml, name; did you mean json?',
    },
    {
      args: ["certs", "renew", "--all", "--within", "soon"],
      says: '--within: "soon" is not a duration; write for example 90s, 15m or 1h30m, or 30d for days',
    },
    { args: ["certs", "renew"], says: "say which to renew: one name, --all, --ca or --enrollment" },
    {
      args: ["certs", "renew", "rome", "--all"],
      says: "say which to renew: one name, --all, --ca or --enrollment",
    },
    { args: ["certs", "renew", "rome", "--host", "x"], says: "--host is for the broker's certificate" },
    { args: ["certs", "renew", "--ca", "--keep-key"], says: "--ca always keeps its key" },
    {
      args: ["certs", "init", "--host", "https://broker:8443"],
      says: '--host "https://broker:8443": write a DNS name or an IP address without scheme, port and path',
    },
    {
      args: ["certs", "init", "--host", "bad_name"],
      says: '--host "bad_name": write a DNS name or an IP address',
    },
    {
      args: ["certs", "init", "--host", "fe80::1%eth0"],
      says: '--host "fe80::1%eth0": write a DNS name or an IP address, for example',
    },
    { args: ["reserve"], says: "say how much: --cpu and --memory" },
    { args: ["quote", "--cpu", "2"], says: "say how much: --memory, for example" },
    { args: ["quote", "--cpu", "two", "--memory", "1Gi"], says: '--cpu: "two" is not a quantity' },
    {
      args: ["reserve", "--cpu", "99999999999999999999", "--memory", "1Gi"],
      says: '--cpu: "99999999999999999999" is too large',
    },
    { args: ["quote", ...SMALL, "--node-memory", "9e18"], says: '--node-memory: "9e18" is too large' },
    { args: ["cordon", "rome", "--reason", TOO_LONG], says: "--reason: " },
    { args: ["evict", "rome", "--reason", TOO_LONG], says: "--reason: " },
    {
      args: ["invite", "rome", "--lifetime", "0s"],
      says: "--lifetime: an invitation lasts more than 0s and at most 168h",
    },
    { args: ["invite", "rome", "--lifetime", "400h"], says: "--lifetime: an invitation lasts" },
    { args: ["invite", "rome", "-n", "Bad_NS"], says: '"Bad_NS" cannot be a namespace' },
    { args: ["reserve", ...SMALL, "--gpu", "-1"], says: "--gpu needs a value" },
    { args: ["reserve", ...SMALL, "--gpu", "1.5"], says: '--gpu: "1.5" is not a whole number' },
    { args: ["reserve", ...SMALL, "--target", "Paris"], says: '--target: "Paris" is not a cluster ID' },
    { args: ["reserve", ...SMALL, "--duration", "1 hour"], says: '--duration: "1 hour" is not a duration' },
    { args: ["reserve", ...SMALL, "--node-memory", "lots"], says: '--node-memory: "lots" is not a quantity' },
    { args: ["reserve", ...SMALL, "-l", "gold"], says: '--selector "gold": write it like key=value' },
    {
      args: ["reserve", ...SMALL, "--resource", "amd.com/gpu=x"],
      says: '--resource["amd.com/gpu"]: "x" is not',
    },
    { args: ["release"], says: "say which to release: one reservation, or --key" },
    { args: ["release", "rsv-a", "--key", "k"], says: "say which to release: one reservation, or --key" },
    { args: ["release", "cluster/paris"], says: '"cluster/paris" is no reservation' },
    { args: ["renew", "rsv-a", "--duration", "soon"], says: '--duration: "soon" is not a duration' },
    {
      args: ["wait", "rsv-a", "--for=Active"],
      says: '--for "Active": write phase=<phase>, released or ended; did you mean phase=Active?',
    },
    { args: ["wait", "rsv-a", "--for=phase=Actve"], says: '--for "phase=Actve"' },
    { args: ["explain", "paris"], says: '"paris" is neither a reservation (rsv-…) nor a decision (dec-…)' },
    { args: ["get", "queu"], says: 'there is no command "brokerctl get queu"; did you mean queue?' },
    { args: ["get", "tenants", "--wach"], says: "there is no option --wach here; did you mean --watch?" },
    { args: ["drain"], says: "<cluster-id> is missing" },
    { args: ["drain", "paris", "--timeout", "soon"], says: '--timeout: "soon" is not a duration' },
    { args: ["get", "reservatons"], says: 'there is no command "brokerctl get reservatons"; did you mean' },
    { args: ["get", "reservations", "--phase", "active"], says: '--phase "active"' },
  ])("$args", async ({ args, says }) => {
    // Who asks all the same hears that nobody listens, which is status 1.
    const env = { BROKERCTL_BROKER: "https://127.0.0.1:1", BROKERCTL_CERTS: certs };
    const { code, out, err } = await runCli(args, { env });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(`brokerctl: ${says}`);
    expect(err).toContain(`\nTry: ${findEntry(ROOT, args).path} --help\n`);
  });
});

test.each([
  ["reserve", ...SMALL],
  ["release", "--key", "k"],
])("an admin must say for which cluster: %s", async (...args) => {
  const folder = await temporaryFolder(onTestFinished);
  await writeCertificateFolder(folder, (await testCertificates()).admin("ops"));
  const env = { BROKERCTL_BROKER: NOWHERE, BROKERCTL_CERTS: folder };
  const { code, err } = await runCli(args, { env });
  expect(code).toBe(2);
  expect(err).toContain(
    "ops is an admin and no cluster: say which cluster it is for, for example --for rome",
  );
});

describe("another word for a command", () => {
  test.each([
    { words: ["get", "cluster"], means: "brokerctl get clusters" },
    { words: ["get", "waiting"], means: "brokerctl get queue" },
    { words: ["get", "tenant"], means: "brokerctl get tenants" },
    { words: ["get", "rreq"], means: "brokerctl get requests" },
    { words: ["describe", "reservations"], means: "brokerctl describe reservation" },
  ])("$words means $means", async ({ words, means }) => {
    expect((await runCli([...words, "--help"])).out).toContain(`Usage: ${means}`);
    expect((await runCli([...words, "--nonsense"])).err).toContain(`Try: ${means} --help`);
  });

  test("leads to one command only, and is no other one's name", () => {
    for (const { entry } of everyEntry(ROOT, [])) {
      if (!isGroup(entry)) continue;
      const words = entry.commands.flatMap((child) => [
        child.name,
        ...(isGroup(child) ? [] : (child.aliases ?? [])),
      ]);
      expect(new Set(words).size).toBe(words.length);
    }
  });
});

test.each([["version"], ["--version"]])("%s reports the versions", async (word) => {
  const { code, out } = await runCli([word]);
  expect(code).toBe(0);
  expect(out).toMatch(/^brokerctl: {3}\d+\.\d+\.\d+\nNode: {8}\d+\./u);
});

interface Listed {
  readonly path: string;
  readonly words: readonly string[];
  readonly entry: Entry;
}

function everyEntry(entry: Entry, words: readonly string[]): Listed[] {
  const below = isGroup(entry)
    ? entry.commands.flatMap((child) => everyEntry(child, [...words, child.name]))
    : [];
  return [{ path: words.join(" ") || "brokerctl", words, entry }, ...below];
}
