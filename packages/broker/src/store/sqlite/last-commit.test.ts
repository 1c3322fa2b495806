import { cpSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { backupLedger, restoreLedger } from "./backup.ts";
import { ledgerFileIn } from "./database.ts";
import { sqliteStore } from "./sqlite-store.ts";
import { asFirstVersion } from "./testing/first-version.ts";
import { Grants } from "./testing/grants.ts";
import { temporaryDirectory } from "./testing/temporary-directory.ts";
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
  it("is whole starts where it was, also from a copy of the folder", async () => {
    const directory = await killed();
    expect(existsSync(join(directory, LOG))).toBe(true);
    expect(verifyLedger(directory).problems).toEqual([]);
    expect(await commitAtStart(directory)).toBe(COMMITS);
  });

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
      // All of it gone is a new ledger, under another Ledger-ID.
      if (outcome === 0) continue;
      expect(outcome).toMatch(/commit 3 was durable: commits are missing/);
      expect(verifyLedger(directory).problems.join()).toMatch(/commits are missing/);
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

  it("of another ledger says nothing about this one", async () => {
    const [directory, other] = [await killed(), temporaryDirectory()];
    await commitAtStart(other);
    cpSync(join(directory, NOTE), join(other, NOTE));
    expect(await commitAtStart(other)).toBe(0);
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

  it("with a damaged head is not counted", async () => {
    const directory = await older();
    const database = new DatabaseSync(ledgerFileIn(directory));
    database.exec("UPDATE ledger SET commit_number = 2");
    database.close();
    await expect(commitAtStart(directory)).rejects.toMatchObject({ kind: "corrupt" });
  });
});
