import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { Grants } from "../common/testing/grants.ts";
import { temporaryDirectory } from "../common/testing/temporary-directory.ts";
import { backupLedger, restoreLedger } from "./backup.ts";
import { ledgerFileIn } from "./database.ts";
import { sqliteStore } from "./sqlite-store.ts";
import { asFirstVersion } from "./testing/first-version.ts";
import { verifyLedger } from "./verify.ts";

const COMMITS = 3;
const NOW = Date.UTC(2026, 6, 1);
const LOG = "ledger.db-wal";
const NOTE = "last-commit";

/** The folder of a broker that was killed after three commits, all of them in its write-ahead log. */
async function killed(): Promise<string> {
  const running = temporaryDirectory();
  const store = sqliteStore({ directory: running });
  await store.open();
  await new Grants().commit(store, COMMITS);
  const directory = join(temporaryDirectory(), "copy");
  cpSync(running, directory, { recursive: true });
  await store.close();
  return directory;
}

async function commitAtStart(directory: string): Promise<number> {
  const store = sqliteStore({ directory });
  const { commitNumber } = await store.open();
  await store.close();
  return commitNumber;
}

describe("a ledger whose write-ahead log", () => {
  it("was cut somewhere never starts in the past", async () => {
    const whole = await killed();
    const { length } = readFileSync(join(whole, LOG));
    let refused = 0;
    for (let left = 0; left < length; left += 4096) {
      const directory = join(temporaryDirectory(), "copy");
      cpSync(whole, directory, { recursive: true });
      truncateSync(join(directory, LOG), left);
      const outcome = await commitAtStart(directory).catch((error: unknown) => String(error));
      if (outcome === COMMITS) continue;
      expect(outcome).toMatch(/commit 3 was durable: (commits are|all of ledger \S+ is) missing/);
      expect(verifyLedger(directory).problems).not.toEqual([]);
      expect(readFileSync(join(directory, LOG))).toHaveLength(left);
      refused++;
    }
    expect(refused).toBeGreaterThan(0);
  });

  it("was removed is refused as corrupt, with what can be done about it", async () => {
    const directory = temporaryDirectory();
    const store = sqliteStore({ directory });
    await store.open();
    const grants = new Grants();
    await grants.commit(store, 1);
    await store.close();
    await store.open();
    await grants.commit(store, 2);
    const copy = join(temporaryDirectory(), "copy");
    cpSync(directory, copy, { recursive: true });
    await store.close();
    rmSync(join(copy, LOG));
    await expect(sqliteStore({ directory: copy }).open()).rejects.toMatchObject({
      kind: "corrupt",
      message: expect.stringMatching(/is at commit 1, and commit 3 was durable.*restore.*--new-id/),
    });
    // A refused start leaves the note as it was.
    await expect(sqliteStore({ directory: copy }).open()).rejects.toMatchObject({ kind: "corrupt" });

    const file = join(temporaryDirectory(), "copy.db");
    await backupLedger({ directory: copy, file });
    const before = verifyLedger(copy).found?.ledgerId;
    restoreLedger({ now: NOW, file, directory: copy, force: true, newId: true });
    const again = sqliteStore({ directory: copy });
    const { ledgerId, records } = await again.open();
    expect(ledgerId).not.toBe(before);
    expect(records.reservations).toHaveLength(1);
    await again.close();
    expect(verifyLedger(copy).problems).toEqual([]);
  });
});

/** What there is and what it says, but for what is made by every attempt to start. */
function filesOf(directory: string): Record<string, number> {
  const names = readdirSync(directory).filter((name) => !name.startsWith("lock") && !name.endsWith("-shm"));
  return Object.fromEntries(names.map((name) => [name, crc32(readFileSync(join(directory, name)))]));
}

describe("a young ledger, all of it in its write-ahead log,", () => {
  const DATABASE = "ledger.db";
  const remove =
    (...names: readonly string[]) =>
    (directory: string) => {
      for (const name of names) rmSync(join(directory, name), { force: true });
    };
  const empty = (name: string) => (directory: string) => truncateSync(join(directory, name));

  it.each([
    { name: "whose log was removed", damage: remove(LOG, "ledger.db-shm") },
    { name: "whose log was emptied", damage: empty(LOG) },
    { name: "whose database was removed", damage: remove(DATABASE) },
    { name: "whose database was emptied", damage: empty(DATABASE) },
    { name: "whose files were removed, but for the note", damage: remove(DATABASE, LOG, "ledger.db-shm") },
    { name: "whose database and note were removed", damage: remove(DATABASE, NOTE) },
    {
      name: "whose database was emptied and note removed",
      damage: (directory: string) => [empty(DATABASE), remove(NOTE)].map((one) => one(directory)),
    },
  ])("$name is refused, and everything is left as it is", async ({ damage }) => {
    const directory = await killed();
    damage(directory);
    const before = filesOf(directory);
    for (const _ of ["first", "second"]) {
      await expect(commitAtStart(directory)).rejects.toMatchObject({
        kind: "corrupt",
        message: expect.stringMatching(/Put the missing file back.*brokerctl restore.*start anew on purpose/),
      });
      expect(filesOf(directory)).toEqual(before);
    }
    expect(verifyLedger(directory).problems).not.toEqual([]);
    expect(filesOf(directory)).toMatchObject(before);
  });

  it("starts when the missing file is put back", async () => {
    const directory = await killed();
    expect(verifyLedger(directory).problems).toEqual([]);
    const log = readFileSync(join(directory, LOG));
    remove(LOG)(directory);
    await expect(commitAtStart(directory)).rejects.toMatchObject({ kind: "corrupt" });
    writeFileSync(join(directory, LOG), log);
    expect(await commitAtStart(directory)).toBe(COMMITS);
  });

  it("whose database was removed is replaced by a copy, and its log kept beside", async () => {
    const directory = await killed();
    const file = join(temporaryDirectory(), "copy.db");
    await backupLedger({ directory, file });
    const log = readFileSync(join(directory, LOG));
    remove(DATABASE)(directory);
    expect(() => restoreLedger({ now: NOW, file, directory })).toThrow("use --force");
    restoreLedger({ now: NOW, file, directory, force: true });
    expect(readFileSync(join(directory, "ledger.db.replaced-wal"))).toEqual(log);
    expect(await commitAtStart(directory)).toBe(COMMITS + 1);
  });
});

describe("the note of the last commit", () => {
  it.each([
    { name: "is behind, as after a kill between commit and note", change: (text: string) => text },
    { name: "cannot be read, as after a power failure", change: () => "" },
    { name: "is full of zeros, as after a power failure", change: () => "\0".repeat(60) },
  ])("that $name does no harm, and is right again afterwards", async ({ change }) => {
    const directory = temporaryDirectory();
    const store = sqliteStore({ directory });
    await store.open();
    const grants = new Grants();
    await grants.commit(store, 1);
    const early = readFileSync(join(directory, NOTE), "utf8");
    await grants.commit(store, 2);
    await store.close();
    const late = readFileSync(join(directory, NOTE), "utf8");
    expect(late).not.toBe(early);
    writeFileSync(join(directory, NOTE), change(early));
    expect(await commitAtStart(directory)).toBe(COMMITS);
    expect(readFileSync(join(directory, NOTE), "utf8")).toBe(late);
  });

  it("of another ledger says nothing about one that has commits", async () => {
    const [directory, other] = [await killed(), temporaryDirectory()];
    const store = sqliteStore({ directory: other });
    await store.open();
    await new Grants().commit(store, 1);
    await store.close();
    cpSync(join(directory, NOTE), join(other, NOTE));
    expect(await commitAtStart(other)).toBe(1);
  });
});

describe("a ledger of the first version", () => {
  /** As that version left it: its head has no sums. */
  async function older(): Promise<string> {
    const directory = temporaryDirectory();
    const store = sqliteStore({ directory });
    await store.open();
    await new Grants().commit(store, COMMITS);
    await store.close();
    rmSync(join(directory, NOTE));
    asFirstVersion(ledgerFileIn(directory));
    return directory;
  }

  it("is counted once, and guarded from then on", async () => {
    const directory = await older();
    expect(await commitAtStart(directory)).toBe(COMMITS);
    expect(verifyLedger(directory).problems).toEqual([]);
    const database = new DatabaseSync(ledgerFileIn(directory));
    database.exec("DELETE FROM reservation WHERE sequence = 1");
    database.close();
    await expect(commitAtStart(directory)).rejects.toThrow("table reservation holds 2 rows");
  });

  it("with a damaged header is not counted", async () => {
    const directory = await older();
    const database = new DatabaseSync(ledgerFileIn(directory));
    database.exec("UPDATE ledger SET commit_number = 2");
    database.close();
    await expect(commitAtStart(directory)).rejects.toMatchObject({ kind: "corrupt" });
  });
});
