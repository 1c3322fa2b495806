import { X509Certificate } from "node:crypto";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Cli, startCli, TEST_START } from "../testing/cli.ts";

let cli: Cli;
beforeEach(async () => {
  cli = await startCli(onTestFinished);
});

describe("init", () => {
  test("makes an authority and the broker's folder, closed to others", async () => {
    const out = await cli.ok("init", "--host", "broker.example.org", "--host", "10.0.0.7");
    expect(out).toContain("ca       authority   2036-01-13 (in 3650 days)   valid");
    expect(out).toContain("broker   server      2027-01-15 (in 365 days)    valid");
    const broker = await cli.certificate("broker");
    expect(broker).toMatchObject({ subject: "CN=broker", keyUsage: ["1.3.6.1.5.5.7.3.1"], ca: false });
    expect(broker.subjectAltName).toBe("DNS:broker.example.org, IP Address:10.0.0.7");
    expect(broker.validFromDate.getTime()).toBe(TEST_START - 5 * 60_000);
    const modes = await Promise.all(
      [
        ["."],
        ["ca"],
        ["ca", "ca.key"],
        ["ca", "issued.json"],
        ["broker"],
        ["broker", "tls.key"],
        ["broker", "tls.crt"],
      ].map(async (parts) => ((await stat(cli.path(...parts))).mode & 0o777).toString(8)),
    );
    expect(modes).toEqual(["700", "700", "600", "600", "700", "600", "644"]);
    expect((await readdir(cli.path("broker"))).toSorted()).toEqual([
      "ca.crt",
      "crl.pem",
      "tls.crt",
      "tls.key",
    ]);
  });

  test("reaches the broker on this machine when no host is named", async () => {
    await cli.ok("init");
    expect((await cli.certificate("broker")).subjectAltName).toBe(
      "DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1",
    );
  });

  test("keeps a new folder out of git and leaves an existing one as it is", async () => {
    await cli.ok("init");
    expect(await cli.read(".gitignore")).toBe("*\n");
    cli = await startCli(onTestFinished);
    await mkdir(cli.dir, { mode: 0o755 });
    await cli.ok("init");
    await expect(stat(cli.path(".gitignore"))).rejects.toThrow("ENOENT");
    expect((await stat(cli.dir)).mode & 0o777).toBe(0o755);
  });

  test("changes nothing when run again", async () => {
    await cli.ok("init");
    const before = await cli.snapshot();
    const { code, err } = await cli.certs("init");
    expect({ code, err }).toEqual({
      code: 0,
      err: `All files exist already in ${cli.dir}; nothing was changed\n`,
    });
    expect(await cli.snapshot()).toEqual(before);
  });

  test("makes again what was lost of the broker's folder", async () => {
    await cli.ok("init");
    await rm(cli.path("broker"), { recursive: true });
    await cli.ok("init");
    expect(
      (await cli.certificate("broker")).checkIssued(new X509Certificate(await cli.read("ca", "ca.crt"))),
    ).toBe(true);
  });

  test("refuses to change the broker's names over its key and says how to", async () => {
    await cli.ok("init", "--host", "a.example.org");
    const before = await cli.snapshot();
    const { code, err } = await cli.certs("init", "--host", "a.example.org", "--host", "b.example.org");
    expect(code).toBe(6);
    expect(err).toContain("does not contain b.example.org");
    expect(err).toContain("brokerctl certs renew broker --host a.example.org --host b.example.org");
    expect(await cli.snapshot()).toEqual(before);
  });

  test("starts over with --force, keeps the old authority aside and says who needs a new certificate", async () => {
    await cli.ok("init");
    await cli.ok("issue", "rome");
    const oldKey = await cli.read("ca", "ca.key");
    const { code, err } = await cli.certs("init", "--force");
    expect(code).toBe(0);
    expect(err).toContain("brokerctl certs issue rome --force");
    expect(await cli.read("ca.replaced-20260115T120000Z", "ca.key")).toBe(oldKey);
    expect(await cli.read("ca", "ca.key")).not.toBe(oldKey);
    expect(await cli.ok("show", "rome")).toContain("not signed by this authority");
  });
});
