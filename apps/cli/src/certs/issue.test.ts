import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Cli, startCli } from "../testing/cli.ts";

let cli: Cli;
beforeEach(async () => {
  cli = await startCli(onTestFinished);
});

describe("issue", () => {
  test("makes a client certificate whose Common Name is the cluster", async () => {
    await cli.ok("init");
    expect(await cli.ok("issue", "rome-1.eu", "-o", "name")).toBe("rome-1.eu\n");
    const rome = await cli.certificate("clusters", "rome-1.eu");
    expect(rome).toMatchObject({ subject: "CN=rome-1.eu", keyUsage: ["1.3.6.1.5.5.7.3.2"], ca: false });
    expect((await readdir(cli.path("clusters", "rome-1.eu"))).toSorted()).toEqual([
      "ca.crt",
      "tls.crt",
      "tls.key",
    ]);
    expect((await stat(cli.path("clusters", "rome-1.eu", "tls.key"))).mode & 0o777).toBe(0o600);
  });

  test("makes an admin with --admin", async () => {
    await cli.ok("init");
    expect(await cli.ok("issue", "alice", "--admin", "--days", "30")).toContain(
      "client (admin)   2026-02-14 (in 30 days)",
    );
    expect((await cli.certificate("clusters", "alice")).subject).toBe("OU=broker-admin\nCN=alice");
  });

  test("never outlives the authority", async () => {
    await cli.ok("init", "--ca-days", "10");
    expect(await cli.ok("issue", "rome")).toContain("2026-01-25 (in 10 days)");
  });

  test("takes a cluster that is called like a folder of ours", async () => {
    await cli.ok("init");
    expect(await cli.ok("issue", "ca", "-o", "json")).toContain('"subject": "CN=ca"');
    expect(await cli.ok("show", "-o", "name")).toBe("ca\nbroker\nca\n");
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
    await cli.ok("init");
    const { code, err } = await cli.certs("issue", "--", id);
    expect(code).toBe(2);
    expect(err).toContain(`${JSON.stringify(id)} cannot be a cluster ID`);
    expect(err).toContain(`at both ends${hint}\n`);
  });

  test.each(["broker", "nobody"])("refuses %s, a name that is the broker's", async (id) => {
    await cli.ok("init");
    const { code, err } = await cli.certs("issue", id);
    expect(code).toBe(2);
    expect(err).toContain(`"${id}" is reserved for the broker`);
  });

  test("never overwrites a key unless told to, and names the two ways", async () => {
    await cli.ok("init");
    await cli.ok("issue", "rome");
    const before = await cli.snapshot();
    const { code, out, err } = await cli.certs("issue", "rome");
    expect({ code, out }).toEqual({ code: 6, out: "" });
    expect(err).toContain("brokerctl certs renew rome");
    expect(err).toContain("brokerctl certs issue rome --force");
    expect(await cli.snapshot()).toEqual(before);
  });

  test("protects a key that has lost its certificate as well", async () => {
    await cli.ok("init");
    await cli.ok("issue", "rome");
    await rm(cli.path("clusters", "rome", "tls.crt"));
    expect((await cli.certs("issue", "rome")).code).toBe(6);
  });

  test("replaces both with --force and names the serial number that stays good", async () => {
    await cli.ok("init");
    await cli.ok("issue", "rome");
    const { serialNumber } = await cli.certificate("clusters", "rome");
    const key = await cli.read("clusters", "rome", "tls.key");
    const { code, err } = await cli.certs("issue", "rome", "--force");
    expect(code).toBe(0);
    expect(err).toContain(`brokerctl certs revoke ${serialNumber}`);
    expect(await cli.read("clusters", "rome", "tls.key")).not.toBe(key);
  });

  test("without an authority says how to make one, and makes nothing", async () => {
    const { code, err } = await cli.certs("issue", "rome");
    expect(code).toBe(1);
    expect(err).toContain(
      `there is no certificate authority in ${cli.path("ca")}. Make one: brokerctl certs init --dir ${cli.dir}`,
    );
    await expect(stat(cli.dir)).rejects.toThrow("ENOENT");
  });

  test("many at once are all registered", async () => {
    await cli.ok("init");
    const ids = Array.from({ length: 8 }, (_, number) => `cluster-${number}`);
    await Promise.all(ids.map((id) => cli.ok("issue", id)));
    const register = JSON.parse(await cli.read("ca", "issued.json")) as { issued: { name: string }[] };
    expect(register.issued.map(({ name }) => name).toSorted()).toEqual(["broker", ...ids]);
  });
});

describe("the lock", () => {
  test("of a process that is gone is taken over", async () => {
    await cli.ok("init");
    await writeFile(cli.path(".lock"), "4194304"); // above every process number Linux gives out
    await cli.ok("issue", "rome");
    await expect(stat(cli.path(".lock"))).rejects.toThrow("ENOENT");
  });

  test("is given back after an error", async () => {
    await cli.ok("init");
    await cli.ok("issue", "rome");
    await cli.certs("issue", "rome");
    await expect(stat(cli.path(".lock"))).rejects.toThrow("ENOENT");
  });
});
