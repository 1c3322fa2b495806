import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStore } from "@resource-broker/broker";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { runCli } from "../testing/cli.ts";

let folder: string;
let store: string;
let copy: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "ledger-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  store = `sqlite:${join(folder, "data")}`;
  copy = join(folder, "copy.db");
  const embedded = sqliteStore({ directory: join(folder, "data") });
  await embedded.open();
  const cordoned = {
    kind: "cordoned",
    at: 1,
    clusterId: "paris",
    cordon: { at: 1, by: "ops", why: "a reason that stands in the file" },
  } as const;
  await embedded.commit({ number: 1, at: 1, entries: [{ by: "ops", action: "cordon", events: [cordoned] }] });
  await embedded.close();
});

describe("the ledger's files", () => {
  test("are verified: a sound ledger says so, with the hash to write down", async () => {
    const { code, out } = await runCli(["audit", "verify", "--store", store, "-o", "json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ problems: [], found: { commitNumber: 1, auditLines: 1 } });
    expect((await runCli(["audit", "verify", "--store", store])).out).toContain("State:             sound");
  });

  test("that were tampered with are found out, with status 1", async () => {
    const file = join(folder, "data", "ledger.db");
    const bytes = await readFile(file);
    const place = bytes.indexOf("a reason that stands in the file");
    expect(place).toBeGreaterThan(0);
    bytes[place] = (bytes[place] ?? 0) ^ 1;
    await writeFile(file, bytes);
    const { code, out, err } = await runCli(["audit", "verify", "--store", store]);
    expect(code).toBe(1);
    expect(out).toContain("damaged");
    expect(err).toContain("Restore a copy: brokerctl restore");
  });

  test("are copied, and a copy is put back only where nothing is lost", async () => {
    expect(await runCli(["backup", "--store", store, copy])).toMatchObject({ code: 0 });
    expect(await runCli(["backup", "--store", store, copy])).toMatchObject({ code: 6 });
    const elsewhere = `sqlite:${join(folder, "other")}`;
    expect(await runCli(["restore", "--store", elsewhere, copy])).toMatchObject({ code: 0 });
    const refused = await runCli(["restore", "--store", store, copy]);
    expect(refused).toMatchObject({ code: 6 });
    expect(refused.err).toContain("--force");
    expect(await runCli(["restore", "--store", store, "--force", copy])).toMatchObject({ code: 0 });
  });

  test("are put back under a new Ledger-ID where that is asked for", async () => {
    const idOf = async () => {
      const { out } = await runCli(["audit", "verify", "--store", store, "-o", "json"]);
      return (JSON.parse(out) as { found: { ledgerId: string } }).found.ledgerId;
    };
    const before = await idOf();
    await runCli(["backup", "--store", store, copy]);
    await runCli(["restore", "--store", store, "--force", copy]);
    expect(await idOf()).toBe(before);
    await runCli(["restore", "--store", store, "--force", "--new-id", copy]);
    expect(await idOf()).not.toBe(before);
  });

  const wrong = [
    { name: "no copy is named", args: ["backup"], code: 2, says: "file" },
    {
      name: "the store is a database elsewhere",
      args: ["backup", "--store", "postgres://x", "y"],
      code: 2,
      says: "sqlite:/var/lib/broker",
    },
    {
      name: "there is no ledger",
      args: ["audit", "verify", "--store", "sqlite:/nowhere"],
      code: 1,
      says: "brokerctl: there is no ledger at /nowhere/ledger.db. --store names its folder",
    },
    {
      name: "the copy is not there",
      args: ["restore", "--store", "sqlite:/tmp/x", "/nowhere/copy.db"],
      code: 1,
      says: "/nowhere/copy.db",
    },
  ];
  test.each(wrong)("are left alone when $name", async ({ args, code, says }) => {
    const result = await runCli(args);
    expect(result.code).toBe(code);
    expect(result.err).toContain(says);
  });
});
