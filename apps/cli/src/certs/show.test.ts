import { createPrivateKey, randomBytes, X509Certificate } from "node:crypto";
import { cp, readFile, writeFile } from "node:fs/promises";
import { makeCrl, subjectOf } from "@resource-broker/runtime";
import { commonName, testCertificates } from "@resource-broker/testkit";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Cli, DAY_MS, startCli, temporaryFolder } from "../testing/cli.ts";

let cli: Cli;
beforeEach(async () => {
  cli = await startCli(onTestFinished);
  await cli.ok("init");
  await cli.ok("issue", "rome");
});

describe("show", () => {
  test("lists everything", async () => {
    expect(await cli.ok("show", "-o", "wide")).toContain("DNS:localhost,IP Address:127.0.0.1");
    expect(JSON.parse(await cli.ok("show", "-o", "json"))).toMatchObject([
      { name: "ca", use: "authority", isAuthority: true },
      { name: "admin-ca", use: "authority", subject: "CN=Resource Broker Admin CA" },
      { name: "enrollment", use: "authority", issuer: "CN=Resource Broker CA" },
      { name: "broker", use: "server", extendedKeyUsages: ["serverAuth"], isAdmin: false },
      { name: "rome", use: "client", subject: "CN=rome", subjectAltNames: [], status: "valid", problems: [] },
    ]);
    expect(await cli.ok("show", "enrollment")).toContain("CN=Resource Broker Enrollment CA");
    expect(await cli.ok("show", "admin-ca")).toContain("CN=Resource Broker Admin CA");
  });

  test("reports the time that is left, and what has passed", async () => {
    await cli.ok("issue", "rome", "--force", "--days", "53");
    cli.advance(30 * DAY_MS);
    expect(await cli.ok("show", "rome")).toContain("Expires:              2026-03-09 (in 23 days)");
    cli.advance(30 * DAY_MS);
    expect(await cli.ok("show", "rome")).toContain("Status:               expired 7 days ago");
    cli.advance(-90 * DAY_MS);
    expect(await cli.ok("show", "rome")).toContain("valid only in 30 days");
  });

  test("says the same of a path as of a name", async () => {
    await cli.ok("revoke", "rome");
    const byName = await cli.ok("show", "rome");
    expect(byName).toContain("revoked just now");
    expect(await cli.ok("show", cli.path("clusters", "rome"))).toBe(byName);
    expect(await cli.ok("show", cli.path("clusters", "rome", "tls.crt"))).toBe(byName);
  });

  test("judges a folder elsewhere by the ca.crt and crl.pem beside it", async () => {
    await cli.ok("revoke", "rome");
    const elsewhere = `${await temporaryFolder(onTestFinished)}/copy`;
    await cp(cli.path("clusters", "rome"), elsewhere, { recursive: true });
    await cp(cli.path("ca", "crl.pem"), `${elsewhere}/crl.pem`);
    const other = await startCli(onTestFinished);
    expect((await other.certs("show", elsewhere)).out).toContain("revoked just now");
    await other.certs("init");
    await cp(other.path("ca", "ca.crt"), `${elsewhere}/ca.crt`);
    expect((await other.certs("show", elsewhere)).out).toContain("not signed by this authority");
  });

  test("believes only the list of the authority that signed the certificate, wherever in the file it stands", async () => {
    const folder = cli.path("clusters", "rome");
    const serial = new X509Certificate(await readFile(`${folder}/tls.crt`)).serialNumber;
    const other = await startCli(onTestFinished);
    await other.certs("init");
    const elsewhere = `${await temporaryFolder(onTestFinished)}/copy`;
    await cp(folder, elsewhere, { recursive: true });
    await writeFile(
      `${elsewhere}/ca.crt`,
      `${await readFile(other.path("ca", "ca.crt"), "utf8")}${await readFile(cli.path("ca", "ca.crt"), "utf8")}`,
    );
    const foreign = await listOf(other, serial);
    await writeFile(`${elsewhere}/crl.pem`, foreign);
    expect((await other.certs("show", elsewhere)).out).not.toContain("revoked");
    await writeFile(`${elsewhere}/crl.pem`, foreign + (await listOf(cli, serial)));
    expect((await other.certs("show", elsewhere)).out).toContain("revoked");
  });

  test.each([
    { name: "a name with a typo", target: "rmoe", says: "did you mean rome?" },
    { name: "a file without certificates", target: "ca/ca.key", says: "holds no certificate in PEM" },
    { name: "a folder without tls.crt", target: "clusters", says: "holds no tls.crt" },
    { name: "a damaged certificate", target: "damaged.crt", says: "holds a certificate that cannot be read" },
    { name: "a damaged list", target: "damaged.crl", says: "is not a revocation list that can be read" },
  ])("of $name says what to do", async ({ target, says }) => {
    await writeFile(cli.path("damaged.crt"), (await cli.read("ca", "ca.crt")).replace("\nMII", "\nAAA"));
    await writeFile(cli.path("damaged.crl"), "-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n");
    const { code, out, err } = await cli.certs("show", target === "rmoe" ? target : cli.path(target));
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(says);
  });

  test("of nothing at all says what to do", async () => {
    const err: unknown = expect.stringContaining("Make some: brokerctl certs init");
    expect(await (await startCli(onTestFinished)).certs("show")).toMatchObject({ code: 1, out: "", err });
  });
});

/** Names that `issue` never writes. */
const { leaf } = await testCertificates();

test.each([
  { name: "no name at all", names: [], subject: "(empty)" },
  {
    name: "a name that runs backwards and rings the bell",
    names: [commonName("\u202eemor\u0007")],
    subject: "CN=\\u{202e}emor\\07",
  },
])("a certificate with $name is shown for what it is", async ({ names, subject }) => {
  await writeFile(cli.path("odd.crt"), leaf({ subject: names }).cert);
  const shown: unknown = JSON.parse(await cli.ok("show", cli.path("odd.crt"), "-o", "json"));
  const problems = ["not signed by this authority"];
  expect(shown).toMatchObject([{ subject, status: "untrusted", problems }]);
});

/** A revocation list of a command line's own authority that names whatever it is given. */
async function listOf({ path }: Cli, serial: string): Promise<string> {
  const certificate = new X509Certificate(await readFile(path("ca", "ca.crt")));
  const privateKey = createPrivateKey(await readFile(path("ca", "ca.key")));
  const [at, nextUpdate] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()];
  return makeCrl(
    { number: 9, thisUpdate: at, nextUpdate, revoked: [{ serial, at, reason: "unspecified" }] },
    { name: subjectOf(certificate), publicKey: certificate.publicKey, privateKey, randomBytes },
  );
}
