import { type CommitBatch, type Store, type StoreContents, StoreFailure } from "@resource-broker/broker";
import { apply, emptyLedger, isSoft } from "@resource-broker/domain";
import { recordsOf } from "@resource-broker/domain/testing";
import type { SeededRandom } from "@resource-broker/testkit";
import type { FaultRates } from "./faults.ts";
import type { Findings } from "./findings.ts";
import type { SimDisk } from "./sim-disk.ts";
import type { SimProcess } from "./sim-process.ts";

const QUICK_MS = 3;
const SLOW_MS = 4000;

export interface SimStoreDeps {
  readonly disk: SimDisk;
  readonly process: SimProcess;
  readonly random: SeededRandom;
  readonly rates: FaultRates;
  readonly findings: Findings;
  /** Told when a batch is handed in for the first time: what it was decided on is known at this moment. */
  readonly onBatch: (batch: CommitBatch) => void;
  /** Told when something took long or failed: expiry may be late then. */
  readonly onFault: () => void;
  /** Told in the moment in which the content is handed over: the broker's clock starts then. */
  readonly onOpened: (contents: StoreContents) => void;
}

/** What becomes of a commit whose caller is told that nobody knows. */
type UnknownOutcome = "never written" | "written before" | "written later";
const OUTCOMES: readonly UnknownOutcome[] = ["never written", "written before", "written later"];

/** A store on the simulated disk: every call takes its time, and may fail in each way that a store may. */
export function simStore(deps: SimStoreDeps): Store {
  const { disk, process, random, rates, findings, onFault } = deps;
  let submitted: CommitBatch | undefined;
  /** A commit that goes on though its caller gave up; `lastCommit` waits for it, as it must in every store. */
  let straggler: Promise<void> | undefined;

  const takes = (name: string): Promise<void> => {
    const isSlow = random.chance(rates.slowDisk);
    if (isSlow) onFault();
    const ms = (random.below(1000) / 1000) * (isSlow ? SLOW_MS : QUICK_MS);
    return new Promise((resolve) => process.later(ms, name, resolve));
  };

  const mayFail = (what: string): void => {
    if (!random.chance(rates.storeCall)) return;
    onFault();
    throw new StoreFailure("not-committed", `${what} failed`);
  };

  const write = async (batch: CommitBatch): Promise<void> => {
    await takes(`write commit ${batch.number}`);
    if (disk.isFull || random.chance(rates.notCommitted)) {
      onFault();
      throw new StoreFailure("not-committed", "the disk is full");
    }
    findings.expect(
      batch.number === disk.lastCommit + 1,
      () => `commit ${batch.number} follows ${disk.lastCommit}`,
    );
    disk.append(batch);
    const done = disk.sync();
    await takes(`sync commit ${batch.number}`);
    done();
    await takes(`commit ${batch.number} is through`);
  };

  const commit = async (batch: CommitBatch): Promise<void> => {
    findings.expect(
      straggler === undefined,
      () => `commit ${batch.number} begins while another one is under way`,
    );
    if (submitted !== batch) deps.onBatch(batch);
    submitted = batch;
    if (!random.chance(rates.unknownOutcome)) return write(batch);
    onFault();
    const outcome = random.pick(OUTCOMES) ?? "never written";
    if (outcome === "written before") await write(batch);
    if (outcome === "written later") {
      straggler = write(batch)
        .catch(() => undefined)
        .finally(() => {
          straggler = undefined;
        });
    }
    if (outcome === "never written") await takes("a commit is lost on its way");
    throw new StoreFailure("unknown", "the connection broke during a commit");
  };

  const open = async (): Promise<StoreContents> => {
    await takes("open");
    mayFail("opening");
    disk.recover();
    // What a killed process wrote may not be on the disk yet: nothing may be answered from it before it is.
    const done = disk.sync();
    await takes("sync at start");
    done();
    const contents = contentsOf(disk);
    deps.onOpened(contents);
    return contents;
  };

  return {
    open,
    commit,
    lastCommit: async () => {
      await straggler;
      await takes("ask for the last commit");
      mayFail("asking for the last commit");
      return disk.lastCommit;
    },
    saveAdvertisements: async (advertisements) => {
      await takes("save advertisements");
      mayFail("saving advertisements");
      for (const received of advertisements) disk.putAdvertisement(received);
    },
    findDecision: () => Promise.resolve(undefined),
    readAudit: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  };
}

function contentsOf(disk: SimDisk): StoreContents {
  const ledger = emptyLedger();
  const events = disk.commitsAfter(0).flatMap(({ entries }) => entries.flatMap((entry) => entry.events));
  for (const event of events) if (!isSoft(event)) apply(ledger, event);
  const records = { ...recordsOf(ledger), advertisements: disk.advertisements() };
  return { ledgerId: disk.ledgerId, commitNumber: disk.lastCommit, records };
}
