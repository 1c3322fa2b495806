import { readdirSync } from "node:fs";
import { ledgerFrom } from "@resource-broker/domain";
import { describe, expect, it } from "vitest";
import { Grants } from "../common/testing/grants.ts";
import { temporaryDirectory } from "../common/testing/temporary-directory.ts";
import { sqliteStore } from "./sqlite-store.ts";
import { startProcess } from "./testing/other-process.ts";
import { verifyLedger } from "./verify.ts";

const HOLD = `await store.open(); print("open"); setInterval(() => undefined, 1000);`;

describe("a directory in use by another process", () => {
  it("is refused, naming that process and the directory", async () => {
    const directory = temporaryDirectory();
    const holder = startProcess(directory, HOLD);
    expect(await holder.nextLine()).toBe("open");
    const message = `another broker (process ${holder.pid}) uses ${directory}; stop it or choose another --store`;
    await expect(sqliteStore({ directory }).open()).rejects.toMatchObject({ kind: "not-committed", message });
    await holder.kill("SIGKILL");
  });

  it("stays in use, even when nothing in that process remembers the store", async () => {
    const directory = temporaryDirectory();
    const script = `await sqliteStore({ directory: ${JSON.stringify(directory)} }).open(); gc(); gc(); print("open");
      setInterval(() => undefined, 1000);`;
    const holder = startProcess(directory, script, ["env", "NODE_OPTIONS=--expose-gc"]);
    expect(await holder.nextLine()).toBe("open");
    await expect(sqliteStore({ directory }).open()).rejects.toThrow("another broker");
  });

  it("is free again the moment that process is killed", async () => {
    const directory = temporaryDirectory();
    const holder = startProcess(directory, HOLD);
    await holder.nextLine();
    await holder.kill("SIGKILL");
    const store = sqliteStore({ directory });
    await store.open();
    const other = startProcess(directory, HOLD);
    expect(await other.nextLine()).toContain(`another broker (process ${process.pid}) uses`);
    await store.close();
    expect(readdirSync(directory).sort()).toEqual(["last-commit", "ledger.db", "lock"]);
  });
});

it("loses nothing that was acknowledged when it is killed while committing", async () => {
  const directory = temporaryDirectory();
  const script = `
    await store.open();
    const grants = new Grants();
    for (let number = await store.lastCommit(); number > 0; number--) grants.next();
    for (;;) {
      await grants.commit(store, 1);
      print(await store.lastCommit());
    }
  `;
  for (let kills = 0, atLeast = 0; kills < 3; kills++) {
    const broker = startProcess(directory, script);
    for (let line = 0; line < 20 + 7 * kills; line++) await broker.nextLine();
    const acknowledged = Number((await broker.kill("SIGKILL")).at(-1));
    expect(acknowledged).toBeGreaterThan(atLeast);

    const store = sqliteStore({ directory });
    const { commitNumber, records } = await store.open();
    // The last one may have been committed without having been acknowledged.
    expect(commitNumber).toBeGreaterThanOrEqual(acknowledged);
    expect(commitNumber).toBeLessThanOrEqual(acknowledged + 1);
    expect(records.reservations).toHaveLength(commitNumber);
    expect(ledgerFrom(records, records.time).accounts.get("rome")?.grantedAsRequester.cpuMillis).toBe(
      1000 * commitNumber,
    );
    await store.close();
    expect(verifyLedger(directory).problems).toEqual([]);
    atLeast = acknowledged;
  }
});

it("refuses commits when a file may not grow, stays readable, and is sound afterwards", async () => {
  const directory = temporaryDirectory();
  const script = `
    await store.open();
    const grants = new Grants();
    for (;;) {
      const batch = grants.next();
      try { await store.commit(batch); } catch (error) {
        print(error.kind + " " + batch.number + " " + (await store.lastCommit()) + " " + error.message);
        print((await store.readAudit({ after: 0, limit: 1000 })).length);
        break;
      }
    }
    await store.close();
  `;
  // A limit on file sizes makes every further write an I/O error, without a disk to break.
  const limited = startProcess(directory, script, ["bash", "-c", 'ulimit -f 300; exec "$@"', "--"]);
  const [kind, number, last, ...message] = (await limited.nextLine()).split(" ");
  expect(kind).toBe("not-committed");
  expect(Number(last)).toBe(Number(number) - 1);
  expect(message.join(" ")).toContain("the disk failed to read or write");
  expect(await limited.nextLine()).toBe(last);
  await limited.kill("SIGTERM");

  const store = sqliteStore({ directory });
  expect((await store.open()).commitNumber).toBe(Number(last));
  const grants = new Grants();
  for (let made = 0; made < Number(last); made++) grants.next();
  await grants.commit(store, 1);
  await store.close();
  expect(verifyLedger(directory).problems).toEqual([]);
});
