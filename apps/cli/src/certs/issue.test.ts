import { X509Certificate } from "node:crypto";
import { cp, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Cli, startCli, TEST_START } from "../testing/cli.ts";

let cli: Cli;
beforeEach(async () => {
  cli = await startCli(onTestFinished);
});

describe("init", () => {
  test("makes an authority and the broker's folder, closed to others", async () => {
    const out = await cli.ok("init", "--host", "broker.example.org", "--host", "10.0.0.7");
    expect(out).toContain("ca           authority   2036-01-13 (in 3650 days)   valid");
    expect(out).toContain("broker       server      2027-01-15 (in 365 days)    valid");
    const broker = await cli.certificate("broker");
    expect(broker).toMatchObject({ subject: "CN=broker", keyUsage: ["1.3.6.1.5.5.7.3.1"], ca: false });
    expect(broker.subjectAltName).toBe("DNS:broker.example.org, IP Address:10.0.0.7");
    expect(broker.validFromDate.getTime()).toBe(TEST_START - 5 * 60_000);
    const modes = { "": "700", ca: "700", "ca/ca.key": "600", "ca/issued.json": "600", broker: "700" };
    for (const [file, mode] of Object.entries({ ...modes, "broker/tls.key": "600", "broker/tls.crt": "644" }))
      expect(`${file} ${((await stat(cli.path(file))).mode & 0o777).toString(8)}`).toBe(`${file} ${mode}`);
    const files = ["admin-ca.crt", "ca.crt", "crl.pem", "tls.crt", "tls.key"];
    expect((await readdir(cli.path("broker"))).toSorted()).toEqual(files);
    expect(await cli.read("broker", "admin-ca.crt")).toBe(await cli.read("ca", "admin-ca.crt"));
  });

  test("names this machine when no host is named, and keeps a new folder out of git; one that is there stays", async () => {
    await cli.ok("init");
    const names = "DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1";
    expect((await cli.certificate("broker")).subjectAltName).toBe(names);
    expect(await cli.read(".gitignore")).toBe("*\n");
    const other = await startCli(onTestFinished);
    await mkdir(other.dir, { mode: 0o755 });
    await other.ok("init");
    await expect(stat(other.path(".gitignore"))).rejects.toThrow("ENOENT");
    expect((await stat(other.dir)).mode & 0o777).toBe(0o755);
  });

  test("changes nothing when run again, but makes again what was lost of the broker's folder", async () => {
    await cli.ok("init");
    const before = await cli.snapshot();
    const err = `All files exist already in ${cli.dir}; nothing was changed\n`;
    expect(await cli.certs("init")).toMatchObject({ code: 0, err });
    expect(await cli.snapshot()).toEqual(before);
    await rm(cli.path("broker"), { recursive: true });
    await cli.ok("init");
    const authority = new X509Certificate(await cli.read("ca", "ca.crt"));
    expect((await cli.certificate("broker")).checkIssued(authority)).toBe(true);
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
    const renewed = await cli.certs("renew", "rome");
    expect(renewed.err).toContain(
      "is not from this authority. Replace it: brokerctl certs issue rome --force",
    );
  });

  test("reports a folder that cannot be written in one line", async () => {
    await writeFile(cli.dir, "a file, not a folder");
    const err: unknown = expect.stringMatching(/^brokerctl: E[A-Z]+: .+\n$/u);
    expect(await cli.certs("init")).toMatchObject({ code: 1, err });
  });
});

test("issue without an authority says how to make one, and makes nothing", async () => {
  const { code, err } = await cli.certs("issue", "rome");
  expect(code).toBe(1);
  expect(err).toContain(
    `there is no certificate authority in ${cli.path("ca")}. Make one: brokerctl certs init --dir ${cli.dir}`,
  );
  await expect(stat(cli.dir)).rejects.toThrow("ENOENT");
});

test("no certificate outlives the authority", async () => {
  await cli.ok("init", "--ca-days", "10");
  expect(await cli.ok("issue", "rome")).toContain("2026-01-25 (in 10 days)");
});

describe("issue", () => {
  beforeEach(async () => {
    await cli.ok("init");
  });

  test("makes a client certificate whose Common Name is the cluster", async () => {
    await cli.ok("issue", "rome-1.eu");
    const rome = await cli.certificate("clusters", "rome-1.eu");
    expect(rome).toMatchObject({ subject: "CN=rome-1.eu", keyUsage: ["1.3.6.1.5.5.7.3.2"], ca: false });
    const files = ["ca.crt", "tls.crt", "tls.key"];
    expect((await readdir(cli.path("clusters", "rome-1.eu"))).toSorted()).toEqual(files);
    expect((await stat(cli.path("clusters", "rome-1.eu", "tls.key"))).mode & 0o777).toBe(0o600);
  });

  test("takes a cluster that is called like a folder of ours", async () => {
    expect(await cli.ok("issue", "ca", "-o", "json")).toContain('"subject": "CN=ca"');
    expect(await cli.ok("show", "-o", "name")).toBe("ca\nadmin-ca\nenrollment\nbroker\nca\n");
    expect(await cli.ok("show", "ca")).toContain("CN=ca");
    await cli.ok("issue", "clusters");
    expect(await cli.ok("show", cli.path("clusters", "ca"))).toContain("CN=ca");
  });

  test.each([
    { id: "Rome", hint: "; did you mean rome?" },
    { id: "rome_1", hint: "; did you mean rome-1?" },
    { id: "../ca", hint: "; did you mean ca?" },
    { id: "rome.", hint: "; did you mean rome?" },
    { id: "r".repeat(64), hint: `; did you mean ${"r".repeat(63)}?` },
    { id: "rome\n", hint: "; did you mean rome?" },
    { id: "", hint: "" },
    { id: "🚀", hint: "" },
  ])("refuses $id as a cluster ID", async ({ id, hint }) => {
    const { code, err } = await cli.certs("issue", "--", id);
    expect(code).toBe(2);
    expect(err).toContain(`${JSON.stringify(id)} cannot be a cluster ID`);
    expect(err).toContain(`at both ends${hint}\n`);
  });

  test.each(["broker", "nobody"])("refuses %s, a name that is the broker's", async (id) => {
    const err: unknown = expect.stringContaining(`"${id}" is reserved for the broker`);
    expect(await cli.certs("issue", id)).toMatchObject({ code: 2, err });
  });

  test("never overwrites a key unless told to, then names the serial number that stays good", async () => {
    await cli.ok("issue", "rome");
    const before = await cli.snapshot();
    const { code, out, err } = await cli.certs("issue", "rome");
    expect({ code, out }).toEqual({ code: 6, out: "" });
    expect(err).toContain("brokerctl certs renew rome");
    expect(err).toContain("brokerctl certs issue rome --force");
    expect(await cli.snapshot()).toEqual(before); // the lock is given back as well
    const { serialNumber } = await cli.certificate("clusters", "rome");
    await rm(cli.path("clusters", "rome", "tls.crt"));
    expect((await cli.certs("issue", "rome")).code).toBe(6);
    const key = await cli.read("clusters", "rome", "tls.key");
    const forced = await cli.certs("issue", "rome", "--force");
    expect(forced.err).toContain(`brokerctl certs revoke ${serialNumber}`);
    expect(await cli.read("clusters", "rome", "tls.key")).not.toBe(key);
  });

  test("takes over the lock of a process that is gone", async () => {
    await writeFile(cli.path(".lock"), "4194304"); // above every process number Linux gives out
    await cli.ok("issue", "rome");
    await expect(stat(cli.path(".lock"))).rejects.toThrow("ENOENT");
  });
});

describe("a damaged authority stops every command that signs", () => {
  const write = (file: string, text: string) => () => writeFile(cli.path("ca", file), text);
  const REGISTER = "issued.json";
  test.each([
    { damage: () => rm(cli.path("ca", REGISTER)), says: "issued.json is missing" },
    { damage: write(REGISTER, "{"), says: "issued.json cannot be read" },
    {
      damage: write(REGISTER, '{"version":1,"crlNumber":1,"issued":[{}]}'),
      says: "issued.json cannot be read",
    },
    {
      damage: write(REGISTER, '{"version":2,"crlNumber":1,"issued":[]}'),
      says: "issued.json cannot be read",
    },
    { damage: () => rm(cli.path("ca", "ca.key")), says: "ca.key is missing: signing needs it" },
    { damage: write("ca.key", "x"), says: "ca.key is not a private key in PEM" },
    {
      damage: () => cp(cli.path("broker", "tls.key"), cli.path("ca", "ca.key")),
      says: "ca.key is not the key of",
    },
    { damage: write("ca.crt", "x"), says: "ca.crt is not a certificate in PEM" },
    { damage: () => rm(cli.path("ca", "ca.crt")), says: "there is no certificate authority in" },
  ])("$says", async ({ damage, says }) => {
    await cli.ok("init");
    await cli.ok("issue", "rome");
    await damage();
    const before = await cli.snapshot();
    for (const args of [["init"], ["issue", "paris"], ["renew", "rome"], ["revoke", "rome"]]) {
      const { code, err } = await cli.certs(...args);
      expect(code).toBe(1);
      expect(err).toContain(says);
    }
    expect(await cli.snapshot()).toEqual(before);
  });
});
