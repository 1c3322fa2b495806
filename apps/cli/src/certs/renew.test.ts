import { X509Certificate } from "node:crypto";
import { cp } from "node:fs/promises";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Cli, DAY_MS, startCli } from "../testing/cli.ts";

let cli: Cli;
beforeEach(async () => {
  cli = await startCli(onTestFinished);
});

describe("renew", () => {
  test("keeps the subject and the length, and makes a new key", async () => {
    await cli.ok("init");
    await cli.ok("issue", "alice", "--admin", "--days", "30");
    const [before, key] = [
      await cli.certificate("clusters", "alice"),
      await cli.read("clusters", "alice", "tls.key"),
    ];
    cli.advance(20 * DAY_MS);
    expect(await cli.ok("renew", "alice")).toContain("2026-03-06 (in 30 days)");
    const after = await cli.certificate("clusters", "alice");
    expect(after.subject).toBe(before.subject);
    expect(after.serialNumber).not.toBe(before.serialNumber);
    expect(await cli.read("clusters", "alice", "tls.key")).not.toBe(key);
  });

  test("keeps the key with --keep-key", async () => {
    await cli.ok("init");
    await cli.ok("issue", "rome");
    const [before, key] = [
      await cli.certificate("clusters", "rome"),
      await cli.read("clusters", "rome", "tls.key"),
    ];
    await cli.ok("renew", "rome", "--keep-key", "--days", "7");
    const after = await cli.certificate("clusters", "rome");
    expect(after.serialNumber).not.toBe(before.serialNumber);
    expect(after.publicKey.equals(before.publicKey)).toBe(true);
    expect(await cli.read("clusters", "rome", "tls.key")).toBe(key);
    expect(await cli.ok("show", "rome")).toContain("(in 7 days)");
  });

  test("--all --within renews only what expires soon, and a second run does nothing", async () => {
    await cli.ok("init");
    await cli.ok("issue", "rome");
    await cli.ok("issue", "alice", "--admin", "--days", "20");
    expect(await cli.ok("renew", "--all", "--within", "30d", "--days", "90", "-o", "name")).toBe("alice\n");
    const { code, out, err } = await cli.certs("renew", "--all", "--within", "720h", "-o", "json");
    expect({ code, out }).toEqual({ code: 0, out: "[]\n" });
    expect(err).toContain("Not renewed: alice expires 2026-04-15 (in 90 days)");
    expect(err).toContain("Nothing was renewed");
  });

  test("keeps the broker's names, or takes new ones", async () => {
    await cli.ok("init", "--host", "a.example.org");
    await cli.ok("renew", "broker");
    expect((await cli.certificate("broker")).subjectAltName).toBe("DNS:a.example.org");
    await cli.ok("renew", "broker", "--host", "B.example.org,10.0.0.7");
    expect((await cli.certificate("broker")).subjectAltName).toBe("DNS:b.example.org, IP Address:10.0.0.7");
    await cli.ok("renew", "broker");
    expect((await cli.certificate("broker")).subjectAltName).toBe("DNS:b.example.org, IP Address:10.0.0.7");
  });

  test("does not let a revoked cluster back in", async () => {
    await cli.ok("init");
    await cli.ok("issue", "rome");
    await cli.ok("revoke", "rome");
    const { code, err } = await cli.certs("renew", "rome");
    expect(code).toBe(1);
    expect(err).toContain("To issue a new one: brokerctl certs issue rome --force");
    expect(await cli.ok("renew", "--all", "-o", "name")).toBe("broker\n");
    await cli.ok("issue", "rome", "--force");
    expect(await cli.ok("show", "rome", "-o", "json")).toContain('"status": "valid"');
  });

  test("of a cluster that has none proposes the one that was meant", async () => {
    await cli.ok("init");
    await cli.ok("issue", "rome");
    const { code, err } = await cli.certs("renew", "rmoe");
    expect(code).toBe(1);
    expect(err).toContain("did you mean rome?");
  });

  test("leaves a certificate alone that another authority signed", async () => {
    await cli.ok("init");
    await cli.ok("issue", "rome");
    await cli.ok("init", "--force");
    const { code, err } = await cli.certs("renew", "rome");
    expect(code).toBe(1);
    expect(err).toContain("is not from this authority. Replace it: brokerctl certs issue rome --force");
  });

  test("heals a key that does not fit, but not with --keep-key", async () => {
    await cli.ok("init");
    await cli.ok("issue", "rome");
    await cp(cli.path("broker", "tls.key"), cli.path("clusters", "rome", "tls.key"));
    expect(await cli.ok("show", "rome")).toContain("tls.key is not the key of tls.crt");
    expect((await cli.certs("renew", "rome", "--keep-key")).err).toContain("renew it without --keep-key");
    await cli.ok("renew", "rome");
    expect(await cli.ok("show", "rome", "-o", "json")).toContain('"status": "valid"');
  });

  test("--ca gives the authority a new life under its old key, everywhere", async () => {
    await cli.ok("init", "--ca-days", "100");
    await cli.ok("issue", "rome");
    const before = new X509Certificate(await cli.read("ca", "ca.crt"));
    cli.advance(90 * DAY_MS);
    expect(await cli.ok("show", "ca")).toContain("expires in 10 days");
    expect(await cli.ok("renew", "--ca")).toContain("(in 100 days)");
    const after = new X509Certificate(await cli.read("ca", "ca.crt"));
    expect(after.publicKey.equals(before.publicKey)).toBe(true);
    for (const folder of ["broker", "clusters/rome"])
      expect(await cli.read(folder, "ca.crt")).toBe(after.toString());
    expect((await cli.certificate("clusters", "rome")).verify(after.publicKey)).toBe(true);
    expect(await cli.ok("show", cli.path("broker", "crl.pem"))).toContain("Good until:   2026-07-24");
  });

  test("--ca works after the authority has expired, and other commands say so", async () => {
    await cli.ok("init", "--ca-days", "10");
    cli.advance(11 * DAY_MS);
    const { code, err } = await cli.certs("issue", "rome");
    expect(code).toBe(1);
    expect(err).toContain("has expired. Renew it: brokerctl certs renew --ca");
    await cli.ok("renew", "--ca");
    await cli.ok("issue", "rome");
  });

  test("--ca --within leaves an authority alone that has time left", async () => {
    await cli.ok("init");
    const before = await cli.snapshot();
    expect(await cli.ok("renew", "--ca", "--within", "30d")).toBe("");
    expect(await cli.snapshot()).toEqual(before);
  });
});
