import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fakeTime, testCertificates, writeCertificateFolder } from "@resource-broker/testkit";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Log } from "../log/log.ts";
import { certificateFolder } from "./certificate-folder.ts";
import type { CertificateSet } from "./certificate-set.ts";
import type { CertificateSource } from "./certificate-source.ts";

const certificates = await testCertificates();
const others = await testCertificates();
const OWNER = { name: "the agent", peers: "the broker", remedy: "brokerctl certs issue rome" };
/** Of the file system's own time: it tells of changes when it likes. */
const PATIENCE = { timeout: 60_000, interval: 5 };

let folder: string;
let source: CertificateSource;
let warnings: string[];
let sets: CertificateSet[];
let time: ReturnType<typeof fakeTime>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "broker-certificates-"));
  warnings = [];
  sets = [];
  time = fakeTime();
});
afterEach(async () => {
  source.stop();
  await rm(folder, { recursive: true });
});

const log: Log = {
  info: () => undefined,
  warn: (fields, message) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
  error: () => undefined,
};

async function started(path = folder): Promise<CertificateSet> {
  source = certificateFolder(path, { owner: OWNER, machine: time, log });
  source.onChange((set) => void sets.push(set));
  return source.start();
}

/** Lets the file system speak and the time pass until it is so. */
const eventually = (check: () => void): Promise<void> =>
  vi.waitFor(async () => {
    await time.advance(250);
    check();
  }, PATIENCE);

describe("a certificate folder", () => {
  test("is read at the start", async () => {
    await writeCertificateFolder(folder, certificates.broker);
    const set = await started();
    expect(set.own.subject).toContain("CN=broker");
    expect(set.authorities).toHaveLength(1);
    expect(set.revocations).toEqual([]);
  });

  test.each([
    ["a missing folder", {}, "tls.crt"],
    [
      "a key of another certificate",
      { ...certificates.broker, key: others.broker.key },
      "tls.crt and tls.key",
    ],
    [
      "an authority that is no certificate",
      { ...certificates.broker, ca: "nothing" },
      "ca.crt: it holds no certificate",
    ],
    ["an authority that is a leaf", { ...certificates.broker, ca: certificates.broker.cert }, "ca.crt"],
    ["a certificate that is none", { ...certificates.broker, cert: "nothing" }, "tls.crt"],
    [
      "a foreign revocation list",
      { ...certificates.broker, crl: others.crl([]) },
      "crl.pem: it is not signed by",
    ],
  ])("with %s stops the start, and says which file it is", async (_, contents, message) => {
    if ("cert" in contents) await writeCertificateFolder(folder, contents);
    await expect(started()).rejects.toThrow(message);
  });

  test("that cannot be used names the owner's way to get one", async () => {
    await expect(started()).rejects.toThrow("brokerctl certs issue rome writes them");
  });

  test("whose own certificate has expired is taken, and the owner is told who will mind", async () => {
    await writeCertificateFolder(folder, certificates.broker);
    time.jumpWall(1000 * 365 * 86_400_000);
    await started();
    expect(warnings).toEqual([
      expect.stringContaining("the agent's own certificate has expired; the broker will refuse it"),
    ]);
  });

  test("whose revocation list disappears is taken, and somebody is told", async () => {
    const revoked = certificates.crl([certificates.cluster("rome")]);
    await writeCertificateFolder(folder, { ...certificates.broker, crl: revoked });
    await started();
    await rm(join(folder, "crl.pem"));
    await eventually(() => expect(sets.at(-1)?.revocations).toEqual([]));
    expect(warnings).toEqual([expect.stringContaining("crl.pem is gone")]);
  });

  test("is read again when its files are replaced", async () => {
    await writeCertificateFolder(folder, certificates.broker);
    await started();
    const renewed = certificates.leaf({
      subject: [{ type: "CN", value: "broker" }],
      extendedKeyUsage: ["serverAuth"],
    });
    await writeCertificateFolder(folder, renewed);
    await eventually(() => expect(sets.at(-1)?.own.serialNumber).toBe(renewed.serial));
    expect(warnings).toEqual([]);
  });

  test("is read again when Kubernetes swaps its ..data link", async () => {
    const version = async (name: string, contents: typeof certificates.broker) => {
      await writeCertificateFolder(join(folder, name), contents);
      await symlink(name, join(folder, "..data_tmp"));
      await rename(join(folder, "..data_tmp"), join(folder, "..data"));
    };
    await version("..first", certificates.broker);
    for (const name of ["tls.crt", "tls.key", "ca.crt"]) await symlink(`..data/${name}`, join(folder, name));
    await started();
    await version("..second", others.broker);
    await eventually(() => expect(sets.at(-1)?.own.serialNumber).toBe(others.broker.serial));
  });

  test("a half-written set changes nothing, is told once, and the whole one is taken when it is there", async () => {
    await writeCertificateFolder(folder, certificates.broker);
    await started();
    await writeFile(join(folder, "tls.crt"), others.broker.cert);
    await eventually(() => expect(warnings).toHaveLength(1));
    await time.advance(5000);
    expect(warnings[0]).toContain("the old ones stay");
    expect(warnings).toHaveLength(1);
    expect(sets).toEqual([]);
    await writeFile(join(folder, "tls.key"), others.broker.key);
    await eventually(() => expect(sets.at(-1)?.own.serialNumber).toBe(others.broker.serial));
  });

  test("a revocation list that appears later is taken", async () => {
    await writeCertificateFolder(folder, certificates.broker);
    await started();
    const rome = certificates.cluster("rome");
    await writeCertificateFolder(folder, { ...certificates.broker, crl: certificates.crl([rome]) });
    await eventually(() => expect(sets.at(-1)?.revocations[0]?.serials.has(rome.serial)).toBe(true));
  });

  test("an outdated revocation list is taken, and somebody is told", async () => {
    const crl = certificates.crl([], { nextUpdate: new Date("2021-01-01T00:00:00Z") });
    await writeCertificateFolder(folder, { ...certificates.broker, crl });
    await started();
    expect(warnings).toEqual([expect.stringContaining("crl.pem is out of date")]);
  });

  test("the same files again are no change", async () => {
    await writeCertificateFolder(folder, certificates.broker);
    await started();
    await mkdir(join(folder, "..unrelated"));
    await writeCertificateFolder(folder, certificates.broker);
    await time.advance(60_000);
    expect(sets).toEqual([]);
  });

  test("where nothing tells of changes, the poll finds them", async () => {
    await writeCertificateFolder(folder, certificates.broker);
    await started();
    await writeCertificateFolder(folder, others.broker);
    await vi.waitFor(async () => {
      await time.advance(30_000);
      expect(sets).toHaveLength(1);
    }, PATIENCE);
  });
});
