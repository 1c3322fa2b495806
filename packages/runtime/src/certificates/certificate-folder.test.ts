import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log } from "@resource-broker/base";
import { fakeClock, testCertificates, writeCertificateFolder } from "@resource-broker/testkit";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ReportReload } from "../probe/reloads.ts";
import { type CertificateFolderDeps, certificateFolder } from "./certificate-folder.ts";
import { type CertificateSet, type CertificateSource, revokedCount } from "./certificate-set.ts";

const certificates = await testCertificates();
const others = await testCertificates();
const OWNER = { name: "the agent", peers: "the broker", remedy: "brokerctl certs issue rome" };
/** Of the file system's own time: it tells of changes when it likes. */
const WAIT_OPTIONS = { timeout: 60_000, interval: 5 };

let folder: string;
let source: CertificateSource;
let warnings: string[];
let sets: CertificateSet[];
let reported: (string | undefined)[];
let time: ReturnType<typeof fakeClock>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "broker-certificates-"));
  warnings = [];
  sets = [];
  reported = [];
  time = fakeClock();
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

async function started(more: Partial<CertificateFolderDeps> = {}): Promise<CertificateSet> {
  const report: ReportReload = (problem) => void reported.push(problem);
  source = certificateFolder(folder, { owner: OWNER, clock: time, log, report, ...more });
  source.onChange((set) => void sets.push(set));
  return source.start();
}

/** Lets the file system speak and the time pass until it is so. */
const eventually = (check: () => void): Promise<void> =>
  vi.waitFor(async () => {
    await time.advance(250);
    check();
  }, WAIT_OPTIONS);

describe("a certificate folder", () => {
  const { broker, ca, crl } = certificates;
  test.each([
    ["nothing in it", {}, "tls.crt"],
    ["a key of another certificate", { ...broker, key: others.broker.key }, "tls.crt and tls.key"],
    ["an authority that is none", { ...broker, ca: "nothing" }, "ca.crt: it holds no certificate"],
    ["an authority that is a leaf", { ...broker, ca: broker.cert }, "ca.crt"],
    ["a certificate that is none", { ...broker, cert: "nothing" }, "tls.crt"],
    [
      "a damaged revocation list",
      { ...broker, crl: crl([], { brokenSignature: true }) },
      "crl.pem: a list is not signed by the authority",
    ],
    [
      "a revocation list that is cut short behind a whole one",
      { ...broker, crl: crl([]) + crl([]).slice(0, 100) },
      "crl.pem: a block of it (-----BEGIN X509 CRL-----) is cut short",
    ],
    [
      "an authority that is cut short behind a whole one",
      { ...broker, ca: ca.cert + others.ca.cert.slice(0, 100) },
      "ca.crt: a block of it",
    ],
    [
      // TLS would trust it, and nothing that goes by the authorities we have read would know of it.
      "an authority under a name that TLS reads and we do not",
      { ...broker, ca: ca.cert + others.ca.cert.replaceAll(" CERTIFICATE-", " TRUSTED CERTIFICATE-") },
      "ca.crt: it holds a TRUSTED CERTIFICATE",
    ],
  ])("with %s stops the start, and says which file it is", async (_, contents, message) => {
    if ("cert" in contents) await writeCertificateFolder(folder, contents);
    const starting = started();
    await expect(starting).rejects.toThrow(message);
    await expect(starting).rejects.toThrow("brokerctl certs issue rome writes them");
  });

  test("may trust authorities beside those of ca.crt, with their lists, and follows their changes", async () => {
    const mallory = others.cluster("mallory");
    await writeCertificateFolder(folder, { ...certificates.broker, crl: others.crl([mallory]) });
    let extra = others.ca.cert;
    let changed = (): void => undefined;
    const more = {
      addTo: async (ca: string): Promise<string> => ca + extra,
      onChange: (listener: () => void) => {
        changed = listener;
        return () => undefined;
      },
    };
    const first = await started({ more });
    expect(first.authorities).toHaveLength(2);
    expect(first.revocations[0]?.serials).toEqual(new Set([mallory.serial]));
    expect(warnings).toEqual([]);
    extra = "";
    changed();
    await eventually(() => expect(sets.at(-1)?.authorities).toHaveLength(1));
  });

  test("whose own certificate has expired is taken, and the owner is told who will mind", async () => {
    await writeCertificateFolder(folder, certificates.broker);
    time.jumpWall(1000 * 365 * 86_400_000);
    await started();
    expect(warnings).toEqual([
      expect.stringContaining("the agent's own certificate has expired; the broker will refuse it"),
    ]);
  });

  test("whose revocation list disappears keeps it in force, and somebody is told until it is back", async () => {
    const rome = certificates.cluster("rome");
    const revoked = certificates.crl([rome]);
    await writeCertificateFolder(folder, { ...certificates.broker, crl: revoked });
    await started();
    await rm(join(folder, "crl.pem"));
    await eventually(() => expect(reported.at(-1)).toContain("crl.pem is gone"));
    expect(warnings).toEqual([expect.stringContaining("the last revocation lists still apply")]);
    expect(sets.map(revokedCount)).toEqual(sets.map(() => 1));

    const renewed = certificates.leaf({
      subject: [{ type: "CN", value: "broker" }],
      extendedKeyUsage: ["serverAuth"],
    });
    await writeCertificateFolder(folder, renewed);
    await eventually(() => expect(sets.at(-1)?.own.serialNumber).toBe(renewed.serial));
    expect(sets.at(-1)?.revocations[0]?.serials).toEqual(new Set([rome.serial]));
    expect(reported.at(-1)).toContain("crl.pem is gone");

    await writeCertificateFolder(folder, { ...renewed, crl: revoked });
    await eventually(() => expect(reported.at(-1)).toBeUndefined());
    expect(warnings).toHaveLength(1);
  });

  test.each([
    ["crl.pem holds another authority's list alone", { crl: others.crl([]) }],
    ["crl.pem is gone together with an authority's certificate that is new", {}],
  ])("keeps the list of each authority that is still trusted: %s", async (_, next) => {
    const rome = certificates.cluster("rome");
    const crl = certificates.crl([rome]);
    await writeCertificateFolder(folder, { ...certificates.broker, crl });
    await started();
    await rm(join(folder, "crl.pem"));
    const ca = certificates.ca.cert + others.ca.cert;
    await writeCertificateFolder(folder, { ...others.broker, ca, ...next });
    await eventually(() => expect(sets.at(-1)?.authorities).toHaveLength(2));
    expect(sets.map(revokedCount)).toEqual(sets.map(() => 1));
    await eventually(() => expect(reported.at(-1)).toMatch(/the last list of CN=.* \(key ID [0-9a-f]{40}\)/));

    await writeCertificateFolder(folder, {
      ...others.broker,
      ca,
      crl: crl + ("crl" in next ? next.crl : ""),
    });
    await eventually(() => expect(reported.at(-1)).toBeUndefined());
    expect(sets.at(-1)?.revocations.some(({ serials }) => serials.has(rome.serial))).toBe(true);
  });

  test("drops the list of an authority that is taken out of ca.crt, and knows it when that comes back without", async () => {
    const crl = certificates.crl([certificates.cluster("rome")]);
    await writeCertificateFolder(folder, { ...certificates.broker, crl });
    await started();
    // So it is between the two commands that copy a new authority's folder and write both into ca.crt.
    await writeCertificateFolder(folder, { ...others.broker, crl: others.crl([]) });
    await eventually(() => expect(sets.at(-1)?.revocations.map(({ serials }) => serials.size)).toEqual([0]));
    expect(reported.at(-1)).toBeUndefined();
    await writeCertificateFolder(folder, { ...others.broker, ca: certificates.ca.cert + others.ca.cert });
    await eventually(() => expect(sets.at(-1)?.authorities).toHaveLength(2));
    expect(sets.map(revokedCount).at(-1)).toBe(1);
    await eventually(() => expect(reported.at(-1)).toContain("crl.pem lacks a list"));
  });

  test("whose revocation list was empty may lose it", async () => {
    await writeCertificateFolder(folder, { ...certificates.broker, crl: certificates.crl([]) });
    await started();
    await rm(join(folder, "crl.pem"));
    await writeCertificateFolder(folder, certificates.leaf({ subject: [{ type: "CN", value: "broker" }] }));
    await eventually(() => expect(sets).toHaveLength(1));
    expect([...warnings, ...reported.filter((problem) => problem !== undefined)]).toEqual([]);
  });

  test("whose new list names fewer certificates is taken, and somebody is told who is trusted again", async () => {
    const [rome, paris] = [certificates.cluster("rome"), certificates.cluster("paris")];
    await writeCertificateFolder(folder, { ...certificates.broker, crl: certificates.crl([rome, paris]) });
    await started();
    await writeCertificateFolder(folder, { ...certificates.broker, crl: certificates.crl([paris]) });
    await eventually(() => expect(sets).toHaveLength(1));
    expect(warnings).toEqual([
      expect.stringContaining(`they are trusted again {"count":1,"serials":["${rome.serial}"]}`),
    ]);
  });

  test("with the list of an authority that is trusted no more retires that authority, and says what is skipped", async () => {
    const rome = certificates.cluster("rome");
    const crl = certificates.crl([rome]);
    const both = { ...others.broker, ca: others.ca.cert + certificates.ca.cert, crl };
    await writeCertificateFolder(folder, both);
    expect((await started()).revocations).toHaveLength(1);
    await writeCertificateFolder(folder, { ...both, ca: others.ca.cert });
    await eventually(() => expect(sets.at(-1)?.authorities).toHaveLength(1));
    expect(sets.at(-1)).toMatchObject({ revocations: [], skippedLists: 1 });
    expect(warnings).toEqual([
      expect.stringContaining("authorities that are not in ca.crt: they are skipped"),
    ]);
    expect(reported.at(-1)).toBeUndefined();
  });

  test("with a list of nobody that is trusted starts, and says so", async () => {
    await writeCertificateFolder(folder, { ...certificates.broker, crl: others.crl([]) });
    expect(await started()).toMatchObject({ revocations: [], skippedLists: 1 });
    expect(warnings).toEqual([expect.stringContaining("they are skipped")]);
  });

  test("whose new certificate the owner does not want is not taken, and somebody is told", async () => {
    await writeCertificateFolder(folder, certificates.broker);
    await started({ rejectReason: () => "tls.crt belongs to somebody else" });
    await writeCertificateFolder(folder, others.broker);
    await eventually(() => expect(reported.at(-1)).toBe("tls.crt belongs to somebody else"));
    expect(sets).toEqual([]);
    expect(warnings).toEqual([
      expect.stringContaining("certificates not reloaded; the old ones stay in use"),
    ]);
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

  test("a half-written set changes nothing, is reported once, and the whole one is taken when it is there", async () => {
    await writeCertificateFolder(folder, certificates.broker);
    await started();
    await writeFile(join(folder, "tls.crt"), others.broker.cert);
    await eventually(() => expect(warnings).toHaveLength(1));
    await time.advance(5000);
    expect(warnings[0]).toContain("the old ones stay");
    expect(warnings).toHaveLength(1);
    expect(sets).toEqual([]);
    expect(reported.at(-1)).toContain("tls.crt and tls.key");
    await writeFile(join(folder, "tls.key"), others.broker.key);
    await eventually(() => expect(sets.at(-1)?.own.serialNumber).toBe(others.broker.serial));
    expect(reported.at(-1)).toBeUndefined();
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
});
