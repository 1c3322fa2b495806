import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../common/testing/temporary-directory.ts";
import { sqliteStore } from "./sqlite-store.ts";

const STORE = new URL("sqlite-store.ts", import.meta.url).href;

/** A real process that opens the store, forgets it at once and lives on. `said`: that it is open, or why it is not. */
async function holderOf(directory: string) {
  const code = `
    import { sqliteStore } from ${JSON.stringify(STORE)};
    await sqliteStore({ directory: ${JSON.stringify(directory)} }).open().then(
      () => console.log("open"),
      (error) => console.log(error.message),
    );
    gc();
    setInterval(() => undefined, 1000);
  `;
  const args = ["--expose-gc", "--input-type=module", "-e", code];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "close");
  const [said] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  return { said, pid: child.pid, kill };
}

it("a directory belongs to one process, until that one is killed or closes it", async () => {
  const directory = temporaryDirectory();
  const holder = await holderOf(directory);
  expect(holder.said).toBe("open");
  const message = `another broker (process ${holder.pid}) uses ${directory}; stop it or choose another --store`;
  const store = sqliteStore({ directory });
  await expect(store.open()).rejects.toMatchObject({ kind: "not-committed", message });
  await holder.kill();
  await store.open();
  expect((await holderOf(directory)).said).toContain(`another broker (process ${process.pid}) uses`);
  await store.close();
  expect(readdirSync(directory).sort()).toEqual(["last-commit", "ledger.db", "lock"]);
});
