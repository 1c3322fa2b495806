import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import { Grants } from "../common/testing/grants.ts";
import { temporaryDirectory } from "../common/testing/temporary-directory.ts";
import { sqliteFailure } from "./sqlite-failure.ts";
import { sqliteStore } from "./sqlite-store.ts";
import { verifyLedger } from "./verify.ts";

/** A disk of one megabyte, where the system lets us have one. */
function smallDisk(): string | undefined {
  const directory = temporaryDirectory();
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", directory]);
  if (status !== 0) return undefined;
  onTestFinished(() => void spawnSync("umount", [directory]));
  return directory;
}

it("refuses commits on a full disk, stays readable, and continues when there is space again", async ({
  skip,
}) => {
  const directory = smallDisk();
  if (directory === undefined) return skip("this system does not let us mount a small disk");
  const ballast = join(directory, "ballast");
  writeFileSync(ballast, Buffer.alloc(300_000));
  const store = sqliteStore({ directory });
  await store.open();
  const grants = new Grants();
  let refused = grants.next();
  for (;;) {
    const failure: unknown = await store.commit(refused).catch((error: unknown) => error);
    if (failure !== undefined) {
      const message = expect.stringContaining("the disk is full; free some space there");
      expect(failure).toMatchObject({ kind: "not-committed", message });
      break;
    }
    refused = grants.next();
  }

  const last = refused.number - 1;
  expect(last).toBeGreaterThan(10);
  expect(await store.lastCommit()).toBe(last);
  expect(await store.readAudit({ after: 0, limit: 10_000 })).toHaveLength(last);
  expect(await store.findDecision("dec-rome-6b65792d31")).toBeDefined();
  await expect(store.commit(refused)).rejects.toMatchObject({ kind: "not-committed" });

  rmSync(ballast);
  await store.commit(refused);
  expect(await store.lastCommit()).toBe(refused.number);
  await store.close();
  expect(verifyLedger(directory)).toMatchObject({ problems: [], found: { commitNumber: refused.number } });
});

it("takes SQLite's word for a full disk as surely not committed", () => {
  const database = new DatabaseSync(join(temporaryDirectory(), "small.db"));
  database.exec("CREATE TABLE t (a); PRAGMA max_page_count = 5");
  let failure: unknown;
  try {
    for (;;) database.exec("INSERT INTO t VALUES (randomblob(1000))");
  } catch (error) {
    failure = sqliteFailure(error, "small.db");
  }
  database.close();
  expect(failure).toMatchObject({ kind: "not-committed", message: expect.stringContaining("disk is full") });
});
