import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Grants } from "../common/testing/grants.ts";
import { temporaryDirectory } from "../common/testing/temporary-directory.ts";
import { backupLedger, restoreLedger } from "./backup.ts";
import { ledgerFileIn } from "./database.ts";
import { sqliteStore } from "./sqlite-store.ts";
import { asFirstVersion } from "./testing/first-version.ts";
import { verifyFile, verifyLedger } from "./verify.ts";

async function openStore(directory: string) {
  const store = sqliteStore({ directory });
  const { ledgerId } = await store.open();
  return { store, ledgerId, grants: new Grants() };
}

function modesIn(folder: string): Record<string, number> {
  const names = readdirSync(folder).toSorted();
  return Object.fromEntries(names.map((name) => [name, statSync(join(folder, name)).mode & 0o777]));
}

describe("a backup", () => {
  it("is one whole, consistent file, made while the broker continues committing", async () => {
    const directory = temporaryDirectory();
    const file = join(temporaryDirectory(), "copy.db");
    const { store, grants, ledgerId } = await openStore(directory);
    await grants.commit(store, 50);
    const copying = backupLedger({ directory, file });
    await grants.commit(store, 50);
    await copying;
    await grants.commit(store, 1);
    await store.close();
    const { problems, found } = verifyFile(file);
    expect(problems).toEqual([]);
    expect(found?.ledgerId).toBe(ledgerId);
    expect(found?.commitNumber).toBeGreaterThanOrEqual(50);
    expect(found?.commitNumber).toBeLessThanOrEqual(100);
    expect(found?.reservations).toBe(found?.commitNumber);
    expect(readdirSync(join(file, ".."))).toEqual(["copy.db"]);
    expect(verifyLedger(directory)).toMatchObject({ problems: [], found: { commitNumber: 101 } });
  });

  it("can be read by nobody else, nor can the ledger, its log and what is restored", async () => {
    const [directory, elsewhere, restored] = [
      temporaryDirectory(),
      temporaryDirectory(),
      temporaryDirectory(),
    ];
    const { store, grants } = await openStore(directory);
    await grants.commit(store, 3);
    expect(modesIn(directory)).toMatchObject({ "ledger.db": 0o600, "ledger.db-wal": 0o600, lock: 0o600 });
    expect(new Set(Object.values(modesIn(directory)))).toEqual(new Set([0o600]));
    const file = join(elsewhere, "copy.db");
    await backupLedger({ directory, file });
    await store.close();
    expect(modesIn(elsewhere)).toEqual({ "copy.db": 0o600 });
    // As earlier releases wrote it.
    chmodSync(file, 0o644);
    restoreLedger({ now: NOW, file, directory: restored });
    restoreLedger({ now: NOW, file, directory: restored, force: true });
    expect(modesIn(restored)).toMatchObject({ "ledger.db": 0o600, "ledger.db.replaced": 0o600 });
    expect(new Set(Object.values(modesIn(restored)))).toEqual(new Set([0o600]));
  });

  it("overwrites nothing, and says when there is nothing to copy", async () => {
    const directory = temporaryDirectory();
    const file = join(temporaryDirectory(), "copy.db");
    await expect(backupLedger({ directory, file })).rejects.toThrow("there is no ledger at");
    writeFileSync(file, "precious");
    await expect(backupLedger({ directory, file })).rejects.toThrow("exists already");
    expect(readFileSync(file, "utf8")).toBe("precious");
  });
});

const NOW = Date.UTC(2026, 6, 1);

describe("restoring", () => {
  async function backedUp() {
    const directory = temporaryDirectory();
    const file = join(temporaryDirectory(), "copy.db");
    const { store, grants, ledgerId } = await openStore(directory);
    await grants.commit(store, 3);
    await backupLedger({ directory, file });
    await grants.commit(store, 2);
    return { directory, file, store, ledgerId };
  }

  it("refuses a directory with a ledger, unless told to replace it; then keeps that one beside", async () => {
    const { directory, file, store } = await backedUp();
    await store.close();
    expect(() => restoreLedger({ now: NOW, file, directory })).toThrow("use --force to replace it");
    expect(verifyLedger(directory).found?.commitNumber).toBe(5);
    restoreLedger({ now: NOW, file, directory, force: true });
    expect(verifyLedger(directory).found?.commitNumber).toBe(4);
    expect(verifyFile(`${ledgerFileIn(directory)}.replaced`).found?.commitNumber).toBe(5);
    restoreLedger({ now: NOW, file, directory, force: true });
    expect(verifyFile(`${ledgerFileIn(directory)}.replaced`).found?.commitNumber).toBe(4);
  });

  it("brings back the ledger of the copy, whose memory begins now, and notes that in the audit log", async () => {
    const { file, store, ledgerId } = await backedUp();
    await store.close();
    const directory = join(temporaryDirectory(), "new", "place");
    expect(restoreLedger({ now: NOW, file, directory }).found?.commitNumber).toBe(3);
    const restored = sqliteStore({ directory });
    const { records, ...contents } = await restored.open();
    expect(contents).toEqual({ ledgerId, commitNumber: 4 });
    expect(records.reservations).toHaveLength(3);
    expect(records.adoption).toEqual({ since: NOW, until: NOW + 24 * 3_600_000, cause: "restored" });
    const [line] = (await restored.readAudit({ after: 0, limit: 1000 })).slice(-1);
    expect(line).toMatchObject({ by: "broker", action: "restore", subject: "ledger" });
    await restored.commit({ number: 5, at: records.time, entries: [] });
    await restored.close();
    expect(verifyLedger(directory).problems).toEqual([]);
  });

  it("takes a copy that an older version made, and brings it to this version's schema", async () => {
    const { file, store } = await backedUp();
    await store.close();
    asFirstVersion(file);
    const directory = temporaryDirectory();
    expect(restoreLedger({ now: NOW, file, directory }).problems).toEqual([]);
    expect(verifyLedger(directory)).toMatchObject({ problems: [], found: { reservations: 3 } });
  });

  it("keeps the log of a killed broker's ledger with that ledger, not with the restored one", async () => {
    const { directory, file, store } = await backedUp();
    const killed = temporaryDirectory();
    for (const part of ["ledger.db", "ledger.db-wal"])
      copyFileSync(join(directory, part), join(killed, part));
    await store.close();
    restoreLedger({ now: NOW, file, directory: killed, force: true });
    expect(verifyLedger(killed)).toMatchObject({ problems: [], found: { commitNumber: 4 } });
    const replaced = `${ledgerFileIn(killed)}.replaced`;
    expect(verifyFile(replaced)).toMatchObject({ problems: [], found: { commitNumber: 5 } });
  });

  it("refuses while a broker runs, and a damaged copy, and leaves everything as it was", async () => {
    const { directory, file, store } = await backedUp();
    expect(() => restoreLedger({ now: NOW, file, directory, force: true })).toThrow(/another broker.* uses/);
    await store.close();
    const bytes = readFileSync(file);
    const at = bytes.indexOf("cpuMillis");
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    expect(() => restoreLedger({ now: NOW, file, directory, force: true })).toThrow("is not a sound copy");
    expect(verifyLedger(directory)).toMatchObject({ problems: [], found: { commitNumber: 5 } });
    expect(existsSync(`${ledgerFileIn(directory)}.replaced`)).toBe(false);
  });

  it("keeps a broker from starting on a half-done restore", async () => {
    const { directory, file, store } = await backedUp();
    await store.close();
    writeFileSync(`${ledgerFileIn(directory)}.unfinished`, "half a copy");
    await expect(sqliteStore({ directory }).open()).rejects.toThrow("was interrupted; run it again");
    restoreLedger({ now: NOW, file, directory, force: true });
    expect((await openStore(directory)).store).toBeDefined();
  });
});
