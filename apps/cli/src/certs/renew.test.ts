import { X509Certificate } from "node:crypto";
import { cp, rm } from "node:fs/promises";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Cli, DAY_MS, startCli } from "../testing/cli.ts";

let cli: Cli;
const authority = async () => new X509Certificate(await cli.read("ca", "ca.crt"));
const rome = () => cli.certificate("clusters", "rome");

beforeEach(async () => {
  cli = await startCli(onTestFinished);
  await cli.ok("init", "--ca-days", "100", "--host", "a.example.org");
  await cli.ok("issue", "rome");
});

describe("renew", () => {
  test("keeps the subject and the length, and makes a new key", async () => {
    expect(await cli.ok("issue", "alice", "--admin", "--days", "30")).toContain(
      "client (admin)   2026-02-14",
    );
    const before = await cli.certificate("clusters", "alice");
    cli.advance(20 * DAY_MS);
    expect(await cli.ok("renew", "alice")).toContain("2026-03-06 (in 30 days)");
    const after = await cli.certificate("clusters", "alice");
    expect(after.subject).toBe("OU=broker-admin\nCN=alice");
    expect(after.serialNumber).not.toBe(before.serialNumber);
    expect(after.publicKey.equals(before.publicKey)).toBe(false);
  });

  test("keeps the key with --keep-key", async () => {
    const [before, key] = [await rome(), await cli.read("clusters", "rome", "tls.key")];
    await cli.ok("renew", "rome", "--keep-key", "--days", "7");
    const after = await rome();
    expect(after.serialNumber).not.toBe(before.serialNumber);
    expect(after.publicKey.equals(before.publicKey)).toBe(true);
    expect(await cli.read("clusters", "rome", "tls.key")).toBe(key);
    expect(await cli.ok("show", "rome")).toContain("(in 7 days)");
  });

  test("--all --within renews only what expires soon, and a second run does nothing", async () => {
    await cli.ok("issue", "alice", "--admin", "--days", "20");
    expect(await cli.ok("renew", "--all", "--within", "30d", "--days", "90", "-o", "name")).toBe("alice\n");
    const { code, out, err } = await cli.certs("renew", "--all", "--within", "720h", "-o", "json");
    expect({ code, out }).toEqual({ code: 0, out: "[]\n" });
    expect(err).toContain("Not renewed: alice expires 2026-04-15 (in 90 days)");
    expect(err).toContain("Nothing was renewed");
  });

  test("keeps the broker's names, or takes new ones", async () => {
    const names = [];
    for (const args of [[], ["--host", "B.example.org,10.0.0.7"], []]) {
      await cli.ok("renew", "broker", ...args);
      names.push((await cli.certificate("broker")).subjectAltName);
    }
    const newNames = "DNS:b.example.org, IP Address:10.0.0.7";
    expect(names).toEqual(["DNS:a.example.org", newNames, newNames]);
  });

  test.each([
    ["the broker's certificate", "broker", "broker-server-tls", "broker"],
    ["the authority of joining clusters", "--enrollment", "broker-enrollment", "enrollment"],
  ])("of %s names the Secret to replace, and how", async (_, target, secret, folder) => {
    const { code, err } = await cli.certs("renew", target);
    expect(code).toBe(0);
    expect(err).toMatch(
      new RegExp(
        `kubectl create secret generic ${secret} -n resource-broker-system --from-file=\\S*/${folder} .*--server-side --force-conflicts`,
      ),
    );
  });

  test("does not let a revoked cluster back in", async () => {
    await cli.ok("revoke", "rome");
    const { code, err } = await cli.certs("renew", "rome");
    expect(code).toBe(1);
    expect(err).toContain("To issue a new one: brokerctl certs issue rome --force");
    expect(await cli.ok("renew", "--all", "-o", "name")).toBe("broker\n");
    await cli.ok("issue", "rome", "--force");
    expect(await cli.ok("show", "rome", "-o", "json")).toContain('"status": "valid"');
  });

  test("heals a key that does not fit, but not with --keep-key", async () => {
    await cp(cli.path("broker", "tls.key"), cli.path("clusters", "rome", "tls.key"));
    expect(await cli.ok("show", "rome")).toContain("tls.key is not the key of tls.crt");
    expect((await cli.certs("renew", "rome", "--keep-key")).err).toContain("renew it without --keep-key");
    await cli.ok("renew", "rome");
    expect(await cli.ok("show", "rome", "-o", "json")).toContain('"status": "valid"');
  });

  test("--ca gives the authority a new life under its old key, everywhere", async () => {
    const before = await authority();
    cli.advance(90 * DAY_MS);
    expect(await cli.ok("show", "ca")).toContain("expires in 10 days");
    expect(await cli.ok("renew", "--ca")).toContain("(in 100 days)");
    const after = await authority();
    expect(after.publicKey.equals(before.publicKey)).toBe(true);
    for (const folder of ["broker", "clusters/rome"])
      expect(await cli.read(folder, "ca.crt")).toBe(after.toString());
    expect((await rome()).verify(after.publicKey)).toBe(true);
    expect(await cli.ok("show", cli.path("broker", "crl.pem"))).toContain("Good until:   2026-07-24");
    const unchanged = await cli.snapshot();
    expect(await cli.ok("renew", "--ca", "--within", "30d")).toBe("");
    expect(await cli.snapshot()).toEqual(unchanged);
  });

  test("--ca works after the authority has expired, and other commands say so", async () => {
    cli.advance(101 * DAY_MS);
    const { code, err } = await cli.certs("issue", "paris");
    expect(code).toBe(1);
    expect(err).toContain("has expired. Renew it: brokerctl certs renew --ca");
    await cli.ok("renew", "--ca");
    await cli.ok("issue", "paris");
  });
});

describe("revoke", () => {
  test("of a cluster ends all its certificates and hands the list to the broker", async () => {
    await cli.ok("renew", "rome");
    await cli.ok("issue", "paris");
    expect((await cli.ok("revoke", "rome", "-o", "name")).trim().split("\n")).toHaveLength(2);
    expect(await cli.read("broker", "crl.pem")).toBe(await cli.read("ca", "crl.pem"));
    const status = JSON.parse(await cli.ok("show", "-o", "json")) as { name: string; status: string }[];
    expect(status.map(({ name, status: word }) => `${name} ${word}`)).toEqual([
      "ca valid",
      "admin-ca valid",
      "enrollment valid",
      "broker valid",
      "paris valid",
      "rome revoked",
    ]);
  });

  test.each([
    { name: "in lower case", spell: (serial: string) => serial.toLowerCase() },
    { name: "with colons", spell: (serial: string) => serial.replaceAll(/..(?=.)/gu, "$&:") },
    { name: "with 0x", spell: (serial: string) => `0x${serial}` },
  ])("takes a serial number $name and ends that one only", async ({ spell }) => {
    const { serialNumber } = await rome();
    await cli.ok("renew", "rome");
    expect(await cli.ok("revoke", spell(serialNumber), "-o", "name")).toBe(`${serialNumber}\n`);
    expect(await cli.ok("show", "rome", "-o", "json")).toContain('"status": "valid"');
    expect(await cli.ok("show", cli.path("ca", "crl.pem"), "-o", "name")).toBe(`${serialNumber}\n`);
  });

  test("again changes neither date nor reason, and brings a lost list back", async () => {
    await cli.ok("revoke", "rome", "--reason", "keyCompromise");
    await rm(cli.path("broker", "crl.pem"));
    cli.advance(DAY_MS);
    const { code, out, err } = await cli.certs("revoke", "rome");
    expect(code).toBe(0);
    expect(err).toContain("rome was revoked already");
    expect(out).toMatch(/2026-01-15 \(24 hours ago\) +keyCompromise/u);
    expect(await cli.read("broker", "crl.pem")).toBe(await cli.read("ca", "crl.pem"));
  });

  test("survives renewals: the list never forgets", async () => {
    const { serialNumber } = await rome();
    await cli.ok("revoke", "rome");
    await cli.ok("issue", "rome", "--force");
    await cli.ok("issue", "paris");
    await cli.ok("revoke", "paris");
    await cli.ok("renew", "--ca");
    expect(await cli.ok("show", cli.path("broker", "crl.pem"), "-o", "name")).toContain(serialNumber);
  });
});

test.each([
  ["renew", "rmoe"],
  ["revoke", "rom"],
])("%s %s: who was meant is proposed", async (...args) => {
  const { code, err } = await cli.certs(...args);
  expect(code).toBe(1);
  expect(err).toContain("did you mean rome?");
});
