import { fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import type { CommitBatch } from "@resource-broker/broker";
import {
  auditLines,
  type Cell,
  CHAIN_START,
  canonical,
  DEFAULT_RETENTION,
  decisionOf,
  durableEvents,
  encodeDecision,
  nextLink,
  openLedgerFile,
  sealOf,
} from "@resource-broker/broker/testing";
import { type CommitRows, rowWriter } from "./row-writer.ts";

export type Commit = (batch: CommitBatch) => void | Promise<void>;

/** The ways to commit that are compared. Each resolves when the batch is on the disk. */
export const COMMIT_VARIANTS: Readonly<Record<string, (file: string) => Commit | Promise<Commit>>> = {
  "the product": (file) => openLedgerFile(file, DEFAULT_RETENTION).commit,
  "rows, same thread": (file) => {
    const write = rowWriter(prepared(file), "FULL");
    const rowsOf = rowMaker();
    return (batch) => write(rowsOf(batch));
  },
  "rows, worker thread": (file) => startWorker(prepared(file)),
  "rows, sync off thread": (file) => {
    const write = rowWriter(prepared(file), "NORMAL");
    const rowsOf = rowMaker();
    const sync = promisify(fdatasync);
    let log: number | undefined;
    return async (batch) => {
      write(rowsOf(batch));
      log ??= openSync(`${file}-wal`, "r+");
      await sync(log);
    };
  },
};

async function startWorker(file: string): Promise<Commit> {
  const worker = new Worker(new URL("./commit-worker.ts", import.meta.url), { workerData: file });
  await new Promise<void>((resolve) => worker.once("message", () => resolve()));
  worker.unref();
  const rowsOf = rowMaker();
  return (batch) =>
    new Promise((resolve, reject) => {
      worker.once("error", reject);
      worker.once("message", () => {
        worker.off("error", reject);
        resolve();
      });
      worker.postMessage(rowsOf(batch));
    });
}

/** Makes the schema and the head row. */
function prepared(file: string): string {
  openLedgerFile(file, DEFAULT_RETENTION).close();
  return file;
}

function rowMaker(): (batch: CommitBatch) => CommitRows {
  let link = CHAIN_START;
  return (batch) => {
    const events = durableEvents(batch);
    return {
      number: batch.number,
      reservations: events.flatMap((event) =>
        event.kind === "granted"
          ? [
              sealed("reservation", [
                event.reservation.id,
                event.reservation.phase,
                JSON.stringify(event.reservation),
              ]),
            ]
          : [],
      ),
      decisions: events.flatMap((event) => {
        const decision = decisionOf(event);
        return decision === undefined
          ? []
          : [sealed("decision", [decision.id, decision.at, encodeDecision(decision)])];
      }),
      lines: auditLines(batch).map((line) => {
        const text = canonical(line);
        link = nextLink(link, text);
        return [link.sequence, text, link.hash];
      }),
    };
  };
}

function sealed(table: string, cells: readonly Cell[]): Cell[] {
  return [...cells, sealOf(table, cells)];
}
