import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { makeCsr, SUBJECT_ATTRIBUTE } from "@resource-broker/runtime";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Cli, DAY_MS, startCli } from "../testing/cli.ts";

const { commonName, organization } = SUBJECT_ATTRIBUTE;
let cli: Cli;
beforeEach(async () => {
  cli = await startCli(onTestFinished);
  await cli.ok("init");
});

const authority = async (...path: readonly string[]): Promise<X509Certificate> =>
  new X509Certificate(await cli.read(...path));

/** As a folder was before there was joining. */
async function makeOld(): Promise<void> {
  for (const file of ["ca/admin-ca.crt", "ca/admin-ca.key", "broker/admin-ca.crt", "enrollment"])
    await rm(cli.path(file), { recursive: true });
}

describe("the admin authority", () => {
  test("signs admins, and the authority of clusters signs none", async () => {
    await cli.ok("issue", "ops", "--admin");
    await cli.ok("issue", "rome");
    const [admins, root] = [await authority("ca", "admin-ca.crt"), await authority("ca", "ca.crt")];
    const [ops, rome] = [await cli.certificate("clusters", "ops"), await cli.certificate("clusters", "rome")];
    expect(ops.verify(admins.publicKey)).toBe(true);
    expect(rome.verify(root.publicKey)).toBe(true);
    expect(rome.verify(admins.publicKey) || ops.verify(root.publicKey)).toBe(false);
    // What an admin verifies is the broker.
    expect(await cli.read("clusters", "ops", "ca.crt")).toBe(root.toString());
    expect(await cli.ok("show", "ops", "-o", "json")).toContain('"status": "valid"');
    await cli.ok("renew", "ops");
    expect((await cli.certificate("clusters", "ops")).verify(admins.publicKey)).toBe(true);
    await cli.ok("revoke", "ops");
    expect(await cli.ok("show", "ops")).toContain("revoked just now");
  });

  test("is renewed with the authority, and its key stays", async () => {
    await cli.ok("issue", "ops", "--admin");
    cli.advance(100 * DAY_MS);
    expect(await cli.ok("renew", "--ca", "-o", "name")).toBe("ca\nadmin-ca\n");
    const admins = await authority("ca", "admin-ca.crt");
    expect(await cli.read("broker", "admin-ca.crt")).toBe(admins.toString());
    expect((await cli.certificate("clusters", "ops")).verify(admins.publicKey)).toBe(true);
  });
});

describe("the enrollment folder", () => {
  test("holds an authority below the other, closed to others", async () => {
    const below = await cli.certificate("enrollment");
    expect(below.ca && below.verify((await authority("ca", "ca.crt")).publicKey)).toBe(true);
    expect((await readdir(cli.path("enrollment"))).toSorted()).toEqual(["ca.crt", "tls.crt", "tls.key"]);
    expect((await stat(cli.path("enrollment", "tls.key"))).mode & 0o777).toBe(0o600);
  });

  test("is made again when it was lost, renewed on demand, revoked by its serial number", async () => {
    await rm(cli.path("enrollment"), { recursive: true });
    await cli.ok("init");
    const { serialNumber } = await cli.certificate("enrollment");
    const key = await cli.read("enrollment", "tls.key");
    await cli.ok("renew", "--enrollment", "--keep-key");
    expect(await cli.read("enrollment", "tls.key")).toBe(key);
    expect(await cli.ok("renew", "--enrollment", "--within", "30d")).toBe("");
    expect(await cli.ok("renew", "--enrollment", "-o", "name")).toBe("enrollment\n");
    expect(await cli.read("enrollment", "tls.key")).not.toBe(key);
    expect(await cli.ok("revoke", serialNumber, "-o", "name")).toBe(`${serialNumber}\n`);
    expect(await cli.ok("show", "enrollment")).not.toContain("revoked");
    // A cluster of the same name is another thing.
    await cli.ok("issue", "enrollment");
    expect((await cli.ok("revoke", "enrollment", "-o", "name")).trim().split("\n")).toHaveLength(1);
  });
});

test("a renewed enrollment authority keeps those before it, whose agents call: not with the same key, revoked or expired", async () => {
  const held = async (): Promise<string[]> =>
    [
      ...(await cli.read("enrollment", "tls.crt")).matchAll(
        /-----BEGIN[^-]*-----[^-]*-----END[^-]*-----\n/gu,
      ),
    ].map(([pem]) => new X509Certificate(pem).serialNumber);
  const [first] = await held();
  await cli.ok("renew", "--enrollment");
  const [second = ""] = await held();
  expect(await held()).toEqual([second, first]);
  await cli.ok("renew", "--enrollment", "--keep-key");
  const [third = ""] = await held();
  expect(await held()).toEqual([third, first]);
  await cli.ok("revoke", third);
  await cli.ok("renew", "--enrollment", "--days", "1");
  const [fourth = ""] = await held();
  expect(await held()).toEqual([fourth, first]);
  expect(await cli.ok("show", "enrollment", "-o", "json")).toContain('"status": "valid"');
  cli.advance(2 * DAY_MS);
  await cli.ok("renew", "--enrollment");
  const [fifth = ""] = await held();
  expect(await held()).toEqual([fifth, first]);
});

describe("a folder of an earlier version", () => {
  test("works as before, and is made complete only when asked", async () => {
    await makeOld();
    await cli.ok("init");
    await cli.ok("issue", "ops", "--admin");
    const root = await authority("ca", "ca.crt");
    expect((await cli.certificate("clusters", "ops")).verify(root.publicKey)).toBe(true);
    expect(await cli.ok("show", "-o", "name")).toBe("ca\nbroker\nops\n");
    expect((await cli.certs("renew", "--enrollment")).err).toContain("brokerctl certs init --upgrade");
    const { code, err } = await cli.certs("init", "--upgrade");
    expect({ code, err }).toMatchObject({
      code: 0,
      err: expect.stringContaining("brokerctl certs issue ops --admin --force") as unknown,
    });
    expect(await cli.read("broker", "admin-ca.crt")).toBe(await cli.read("ca", "admin-ca.crt"));
    expect(await cli.read("enrollment", "ca.crt")).toBe(await cli.read("ca", "ca.crt"));
    expect((await authority("ca", "ca.crt")).publicKey.equals(root.publicKey)).toBe(true);
    const before = await cli.snapshot();
    await cli.ok("init", "--upgrade");
    expect(await cli.snapshot()).toEqual(before);
  });
});

describe("sign", () => {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const request = async (...subject: (readonly [string, string])[]): Promise<string> => {
    const file = cli.path("request.csr");
    await writeFile(file, makeCsr(subject, keys));
    return file;
  };

  test("makes a certificate for the request's key and no key; renew says what to do", async () => {
    const csr = await request([commonName, "rome"]);
    await cli.ok("sign", "rome", "--csr", csr);
    const rome = await cli.certificate("clusters", "rome");
    expect(rome).toMatchObject({ subject: "CN=rome", keyUsage: ["1.3.6.1.5.5.7.3.2"], ca: false });
    expect(rome.publicKey.equals(keys.publicKey)).toBe(true);
    expect((await readdir(cli.path("clusters", "rome"))).toSorted()).toEqual(["ca.crt", "tls.crt"]);
    expect((await cli.certs("renew", "rome")).err).toContain(
      "brokerctl certs sign rome --csr <file> --force",
    );
    expect((await cli.certs("sign", "--csr", csr)).code).toBe(6);
    const { err } = await cli.certs("sign", "--csr", csr, "--force");
    expect(err).toContain(`brokerctl certs revoke ${rome.serialNumber}`);
    expect((await cli.ok("revoke", "rome", "-o", "name")).trim().split("\n")).toHaveLength(2);
  });

  test.each([
    {
      name: "another organization",
      subject: [
        [organization, "x"],
        [commonName, "rome"],
      ],
      says: "its subject is",
    },
    {
      name: "a second name",
      subject: [
        [commonName, "rome"],
        [commonName, "paris"],
      ],
      says: "its subject is",
    },
    {
      name: "an admin's unit",
      subject: [
        ["2.5.4.11", "broker-admin"],
        [commonName, "rome"],
      ],
      says: "its subject is",
    },
    { name: "no name", subject: [], says: "cannot be a cluster ID" },
    { name: "the broker's name", subject: [[commonName, "broker"]], says: "reserved for the broker" },
  ] as const)("refuses a request with $name, and makes nothing", async ({ subject, says }) => {
    const csr = await request(...subject);
    const before = await cli.snapshot();
    const { code, err } = await cli.certs("sign", "--csr", csr);
    expect(code).not.toBe(0);
    expect(err).toContain(says);
    expect(await cli.snapshot()).toEqual(before);
  });

  test("refuses a request of another cluster than was named, and says how to make one of this", async () => {
    const csr = await request([organization, "x"], [commonName, "paris"]);
    const { code, err } = await cli.certs("sign", "oslo", "--csr", csr);
    expect(code).toBe(1);
    expect(err).toContain('its subject is "O=x, CN=paris" instead of "CN=oslo". Make it for exactly CN=oslo');
    expect(err).toContain("-out oslo.csr -subj /CN=oslo\n");
    const unnamed = await cli.certs("sign", "--csr", csr);
    expect(unnamed.err).toContain("-subj /CN=paris\n");
    const none = await cli.certs("sign", "--csr", cli.path("ca", "ca.crt"));
    expect(none.err).toContain("not one CERTIFICATE REQUEST");
    expect(none.err).toContain("-subj /CN=<cluster-id>\n");
  });

  test.each([
    ["a file that is not there", ["--csr", "nowhere.csr"], "there is no nowhere.csr: --csr names the file"],
    ["a folder", ["--csr", "."], ". is a folder: --csr names the file"],
    ["no file", ["rome"], "--csr is missing"],
    ["a bad ID, whatever the file is", ["Rome", "--csr", "nowhere.csr"], "did you mean rome?"],
    ["the broker's name, whatever the file is", ["broker", "--csr", "."], "reserved for the broker"],
  ])("ends with 2 for %s", async (_, args, says) => {
    const { code, err } = await cli.certs("sign", ...args);
    expect(code).toBe(2);
    expect(err).toContain(says);
  });
});
