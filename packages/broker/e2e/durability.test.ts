import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PATH } from "@resource-broker/contract";
import {
  advertisementBody,
  type BrokerProcess,
  callsIn,
  reservationBody,
  startBroker,
  startTraced,
  testCertificates,
  traceProcess,
  tracerProblem,
  until,
} from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { advertisedIn } from "../src/testing/advertised-in.ts";

const REPLIES = 100;
/** Only a guard: real processes on a busy machine take their time. */
const GUARD = { timeout: 120_000 };
const problem = tracerProblem();
if (problem !== undefined) process.stderr.write(`NOT TESTED: durability beyond kill -9. ${problem}\n`);

describe("what strace writes is understood", () => {
  const wal = "/tmp/store/ledger.db-wal";
  const rows = [
    { name: "a write", trace: `7 pwrite64(21<${wal}>, "x", 24, 0) = 24`, calls: ["write to the log"] },
    { name: "a sync that returned", trace: `7 fdatasync(21<${wal}>) = 0`, calls: ["sync of the log"] },
    { name: "a sync that failed", trace: `7 fsync(21<${wal}>) = -1 EIO (Input/output error)`, calls: [] },
    { name: "a sync of another file", trace: "7 fsync(20</tmp/store/ledger.db>) = 0", calls: [] },
    {
      name: "a sync that returns only after an answer",
      trace: `7 fdatasync(21<${wal}> <unfinished ...>\n8 write(30<TCP:[127.0.0.1:1->127.0.0.1:2]>, "x", 1) = 1\n7 <... fdatasync resumed>) = 0`,
      calls: ["answer", "sync of the log"],
    },
  ];
  test.each(rows)("$name", ({ trace, calls }) => {
    expect(callsIn(trace)).toEqual(calls);
  });
});

describe.skipIf(problem !== undefined)("a broker on SQLite", () => {
  test("has its log on the disk before each of 100 answers leaves", GUARD, async () => {
    const { broker, folder } = await begin();
    const rome = broker.clientFor("rome", { maxSockets: 1 });
    await reserve(broker, "before");
    // Advertisements are written behind, and not synced: after that, and one more commit, every write is a commit's.
    await until(
      "the advertisement is written",
      async () => advertisedIn(broker.storeDirectory).length > 0 || undefined,
    );
    await reserve(broker, "to sync what was written behind");
    const tracing = await traceProcess(broker.pid ?? 0, join(folder, "trace"));
    for (let each = 0; each < REPLIES; each++) {
      const reply = await rome.request("POST", PATH.reservations, {
        key: `key-${each}`,
        body: reservationBody({ cpu: 1, memoryGi: 1 }),
      });
      expect(reply.status).toBe(201);
    }
    const calls = await tracing.stop();
    const answers = answersIn(calls);
    expect(answers.filter(({ isSafe }) => !isSafe)).toEqual([]);
    expect(answers.filter(({ hasCommitted }) => hasCommitted)).toHaveLength(REPLIES);
  });

  test("that was killed syncs what it finds in its log before it answers again", GUARD, async () => {
    const { broker, folder } = await begin();
    await reserve(broker, "k");
    const command = (await readFile(`/proc/${broker.pid}/cmdline`, "utf8")).split("\0").slice(0, -1);
    await broker.kill("SIGKILL");
    const tracing = startTraced(command, join(folder, "trace"));
    onTestFinished(() =>
      tracing.stop().then(
        () => undefined,
        () => undefined,
      ),
    );
    // The request is repeated and answered from what was read: nothing is written for it.
    await until("the broker is back", async () => ((await reserve(broker, "k")) === 200 ? true : undefined));
    const calls = await tracing.stop();
    expect(calls).toContain("answer");
    expect(calls.slice(0, calls.indexOf("answer"))).toContain("sync of the log");
  });
});

interface SentAnswer {
  /** Nothing is written that is not synced. */
  readonly isSafe: boolean;
  /** Something was written and synced since the answer before. */
  readonly hasCommitted: boolean;
}

function answersIn(calls: readonly string[]): SentAnswer[] {
  const answers: SentAnswer[] = [];
  let isDirty = false;
  let hasCommitted = false;
  for (const call of calls) {
    if (call === "write to the log") isDirty = true;
    if (call === "sync of the log") {
      hasCommitted ||= isDirty;
      isDirty = false;
    }
    if (call !== "answer") continue;
    answers.push({ isSafe: !isDirty, hasCommitted });
    hasCommitted = false;
  }
  return answers;
}

async function begin(): Promise<{ readonly broker: BrokerProcess; readonly folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), "durability-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const broker = await startBroker({ certificates: await testCertificates() });
  onTestFinished(broker.dispose);
  const body = advertisementBody("paris", { cpu: 1000, memoryGi: 4000 });
  expect(await broker.clientFor("paris").request("POST", PATH.advertisements, { body })).toMatchObject({
    status: 200,
  });
  return { broker, folder };
}

async function reserve(broker: BrokerProcess, key: string): Promise<number> {
  const body = reservationBody({ cpu: 1, memoryGi: 1 });
  const { status } = await broker.clientFor("rome").request("POST", PATH.reservations, {
    key: key.replaceAll(" ", "-"),
    body,
  });
  return status;
}
