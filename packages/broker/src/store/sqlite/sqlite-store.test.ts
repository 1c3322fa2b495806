import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { STORE_PROMISES } from "@resource-broker/testkit";
import { describe, expect, it } from "vitest";
import { sealOf } from "../common/seals.ts";
import { corrupt, DAMAGES } from "../common/testing/damages.ts";
import { Grants } from "../common/testing/grants.ts";
import { temporaryDirectory } from "../common/testing/temporary-directory.ts";
import { ledgerFileIn } from "./database.ts";
import { sqliteStore } from "./sqlite-store.ts";
import { verifyLedger } from "./verify.ts";

describe("the sqlite store passes the conformance suite of a store", () => {
  const makeStore = () => {
    const directory = mkdtempSync(join(tmpdir(), "ledger-"));
    const remove = () => rm(directory, { recursive: true });
    return Promise.resolve({ connect: () => sqliteStore({ directory }), remove });
  };
  it.each(STORE_PROMISES)("$name", async ({ keep }) => {
    await expect(keep(makeStore)).resolves.toBeUndefined();
  });
});

describe("opening a ledger", () => {
  /** A directory with a ledger of three reservations, changed by hand. */
  async function tampered(sql: string): Promise<string> {
    const directory = temporaryDirectory();
    const store = sqliteStore({ directory });
    await store.open();
    await new Grants().commit(store, 3);
    await store.close();
    const database = new DatabaseSync(ledgerFileIn(directory));
    database.exec(sql);
    database.close();
    return directory;
  }

  it("that is damaged names the file, the command, and what to do without a backup", async () => {
    const directory = await tampered("DELETE FROM reservation WHERE sequence = 1");
    const command = `brokerctl restore --store sqlite:${directory} --force <copy>`;
    await expect(sqliteStore({ directory }).open()).rejects.toMatchObject({
      kind: "corrupt",
      message:
        `${ledgerFileIn(directory)}: table reservation holds 2 rows, and 3 were committed: another program has changed ` +
        `it; restore a backup: ${command}. Without a sound copy start anew: move all files out of ${directory}, ` +
        "last-commit too, and agents offer what they hold for adoption",
    });
  });

  const cells = ["rsv-x", "Reserved", "{}"];

  it.each([
    ...DAMAGES,
    corrupt("a changed commit number", "UPDATE ledger SET commit_number = 2", /row of table ledger/),
    corrupt("its own row that is gone", "DELETE FROM ledger", /row is gone/),
    corrupt(
      "a reservation that nobody committed",
      `INSERT INTO reservation (id, phase, body, seal)
        VALUES ('${cells.join("', '")}', ${sealOf("reservation", cells)})`,
      /table reservation holds 4 rows, and 3 were committed/,
    ),
    {
      name: "a database that is not a ledger",
      sql: "PRAGMA application_id = 7",
      kind: "not-committed",
      says: /not a broker's ledger/,
    },
  ])("notices $name", async ({ sql, kind, says }) => {
    const directory = await tampered(sql.replaceAll("S.", ""));
    const message = expect.stringMatching(says);
    await expect(sqliteStore({ directory }).open()).rejects.toMatchObject({ kind, message });
    // A refused start lets go of the directory.
    await expect(sqliteStore({ directory }).open()).rejects.toMatchObject({ kind });
  });

  it("names the directory when it cannot be made", async () => {
    const directory = join(temporaryDirectory(), "file", "ledger");
    writeFileSync(join(directory, ".."), "in the way");
    const message = expect.stringContaining(directory);
    await expect(sqliteStore({ directory }).open()).rejects.toMatchObject({ kind: "not-committed", message });
  });
});

describe("history", () => {
  const retention = {
    decisions: { atMost: 20, forMs: 60 * 60_000 },
    audit: { atMost: 30, forMs: 60 * 60_000 },
  };

  it("stays within its bounds, and what is left of the audit log still verifies", async () => {
    const directory = temporaryDirectory();
    const store = sqliteStore({ directory, retention });
    await store.open();
    const grants = new Grants();
    const first = grants.next();
    await store.commit(first);
    await grants.commit(store, 150);
    await store.close();
    const { problems, found } = verifyLedger(directory);
    expect(problems).toEqual([]);
    expect(found?.reservations).toBe(151);
    expect(found?.decisions).toBeLessThanOrEqual(30);
    expect(found?.auditLines).toBeLessThanOrEqual(45);
    expect(found?.firstAuditLine).toBeGreaterThan(100);
  });

  it("goes by age, too, and reading after a trimmed line begins with the oldest that is left", async () => {
    const directory = temporaryDirectory();
    const store = sqliteStore({
      directory,
      retention: { ...retention, audit: { atMost: 1000, forMs: 60_000 } },
    });
    await store.open();
    const grants = new Grants();
    await grants.commit(store, 40);
    grants.story.now += 3_600_000;
    await grants.commit(store, 10);
    const [oldest] = await store.readAudit({ after: 0, limit: 1 });
    expect(oldest?.sequence).toBeGreaterThan(30);
    await store.close();
    expect(verifyLedger(directory).problems).toEqual([]);
  });
});
