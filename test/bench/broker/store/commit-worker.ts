import { parentPort, workerData } from "node:worker_threads";
import { type CommitRows, rowWriter } from "./row-writer.ts";

/** Commits on a thread of its own: the way that was measured and not taken. */
const write = rowWriter(String(workerData), "FULL");
parentPort?.on("message", (rows: CommitRows) => {
  write(rows);
  parentPort?.postMessage(rows.number);
});
parentPort?.postMessage("ready");
