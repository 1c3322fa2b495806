import { rm } from "node:fs/promises";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Cli, DAY_MS, startCli } from "../testing/cli.ts";

let cli: Cli;
beforeEach(async () => {
  cli = await startCli(onTestFinished);
});

describe("revoke", () => {
  test("of a cluster ends all its certificates and hands the list to the broker", async () => {
    await cli.ok("init");
    await cli.ok("issue", "rome");
    await cli.ok("renew", "rome");
    await cli.ok("issue", "paris");
    expect((await cli.ok("revoke", "rome", "-o", "name")).trim().split("\n")).toHaveLength(2);
    expect(await cli.read("broker", "crl.pem")).toBe(await cli.read("ca", "crl.pem"));
    const status = JSON.parse(await cli.ok("show", "-o", "json")) as { name: string; status: string }[];
    expect(status.map(({ name, status: word }) => `${name} ${word}`)).toEqual([
      "ca valid",
      "broker valid",
      "paris valid",
      "rome revoked",
    ]);
  });

  test.each([
    { name: "as printed", spell: (serial: string) => serial },
    { name: "in lower case", spell: (serial: string) => serial.toLowerCase() },
    { name: "with colons", spell: (serial: string) => serial.replaceAll(/..(?=.)/gu, "$&:") },
    { name: "with 0x", spell: (serial: string) => `0x${serial}` },
  ])("takes a serial number $name and ends that one only", async ({ spell }) => {
    await cli.ok("init");
    await cli.ok("issue", "rome");
    const { serialNumber } = await cli.certificate("clusters", "rome");
    await cli.ok("renew", "rome");
    expect(await cli.ok("revoke", spell(serialNumber), "-o", "name")).toBe(`${serialNumber}\n`);
    expect(await cli.ok("show", "rome", "-o", "json")).toContain('"status": "valid"');
    expect(await cli.ok("show", cli.path("ca", "crl.pem"), "-o", "name")).toBe(`${serialNumber}\n`);
  });

  test("again changes neither date nor reason, and brings a lost list back", async () => {
    await cli.ok("init");
    await cli.ok("issue", "rome");
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
    await cli.ok("init");
    await cli.ok("issue", "rome");
    const { serialNumber } = await cli.certificate("clusters", "rome");
    await cli.ok("revoke", "rome");
    await cli.ok("issue", "rome", "--force");
    await cli.ok("issue", "paris");
    await cli.ok("revoke", "paris");
    await cli.ok("renew", "--ca");
    expect(await cli.ok("show", cli.path("broker", "crl.pem"), "-o", "name")).toContain(serialNumber);
  });

  test("of somebody unknown proposes who was meant", async () => {
    await cli.ok("init");
    await cli.ok("issue", "rome");
    const { code, err } = await cli.certs("revoke", "rom");
    expect(code).toBe(1);
    expect(err).toContain("did you mean rome?");
  });
});
