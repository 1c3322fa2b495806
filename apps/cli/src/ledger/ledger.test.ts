import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sqliteStore } from "@resource-broker/broker";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Outcome, runCli, temporaryFolder } from "../testing/cli.ts";

let folder: string;
let store: string;
let copy: string;

beforeEach(async () => {
  folder = await temporaryFolder(onTestFinished);
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

const run = (line: string): Promise<Outcome> => runCli(line.split(" "));

describe("the ledger's files", () => {
  test("are verified: a sound ledger says so, with the hash to write down", async () => {
    const { code, out } = await run(`audit verify --store ${store} -o json`);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ problems: [], found: { commitNumber: 1, auditLines: 1 } });
    expect((await run(`audit verify --store ${store}`)).out).toContain("State:             sound");
  });

  test("that were tampered with are found out, with status 1", async () => {
    const file = join(folder, "data", "ledger.db");
    const bytes = await readFile(file);
    const place = bytes.indexOf("a reason that stands in the file");
    expect(place).toBeGreaterThan(0);
    bytes[place] = (bytes[place] ?? 0) ^ 1;
    await writeFile(file, bytes);
    const { code, out, err } = await run(`audit verify --store ${store}`);
    expect(code).toBe(1);
    expect(out).toContain("damaged");
    expect(err).toContain("Restore a copy: brokerctl restore");
  });

  test("are copied, and a copy is put back only where nothing is lost", async () => {
    expect(await run(`backup --store ${store} ${copy}`)).toMatchObject({ code: 0 });
    expect(await run(`backup --store ${store} ${copy}`)).toMatchObject({ code: 6 });
    const elsewhere = `sqlite:${join(folder, "other")}`;
    expect(await run(`restore --store ${elsewhere} ${copy}`)).toMatchObject({ code: 0 });
    const refused = await run(`restore --store ${store} ${copy}`);
    expect(refused).toMatchObject({ code: 6 });
    expect(refused.err).toContain("--force");
    expect(await run(`restore --store ${store} --force ${copy}`)).toMatchObject({ code: 0 });
  });

  test("are put back under a new Ledger-ID where that is asked for", async () => {
    const idOf = async () => {
      const { out } = await run(`audit verify --store ${store} -o json`);
      return (JSON.parse(out) as { found: { ledgerId: string } }).found.ledgerId;
    };
    const before = await idOf();
    await run(`backup --store ${store} ${copy}`);
    await run(`restore --store ${store} --force ${copy}`);
    expect(await idOf()).toBe(before);
    await run(`restore --store ${store} --force --new-id ${copy}`);
    expect(await idOf()).not.toBe(before);
  });

  const missing = "brokerctl: there is no ledger at /nowhere/ledger.db. --store names its folder";
  test.each([
    ["no copy is named", "backup", 2, "file"],
    ["the store is elsewhere", "backup --store postgres://x y", 2, "sqlite:/var/lib/broker"],
    ["there is no ledger", "audit verify --store sqlite:/nowhere", 1, missing],
    ["there is no copy", "restore --store sqlite:/tmp/x /nowhere/copy.db", 1, "/nowhere/copy.db"],
  ])("are left alone when %s", async (_, line, code, says) => {
    expect(await run(line)).toMatchObject({ code, err: expect.stringContaining(says) });
  });
});
