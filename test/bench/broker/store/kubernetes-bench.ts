import {
  LEDGER_LABEL,
  type LedgerServer,
  realServer,
  simulatedServer,
  type TestLedger,
} from "@resource-broker/broker/testing";
import { CONFIG_MAPS } from "@resource-broker/kube";
import { startControlPlane } from "@resource-broker/testkit";
import { sampleBatches } from "./sample-batches.ts";

const BATCHES: readonly { readonly size: number; readonly count: number }[] = [
  { size: 1, count: 300 },
  { size: 10, count: 100 },
  { size: 100, count: 30 },
];
const RESTART_RESERVATIONS = 10_000;

/** What a commit in Kubernetes objects costs, and how long the ledger takes to come back. */
export async function printKubernetes(kind: string): Promise<void> {
  const plane = kind === "real" ? await startControlPlane() : undefined;
  const server = plane === undefined ? await simulatedServer() : await realServer(plane);
  console.log(
    `Node ${process.version}, API server ${plane === undefined ? "simulated, in this process" : "real"}`,
  );
  for (const { size, count } of BATCHES) console.log(await measureCommits(server, size, count));
  console.log(await measureRestart(server));
  await server.dispose();
  await plane?.dispose();
}

async function measureCommits(server: LedgerServer, size: number, count: number): Promise<string> {
  const ledger = await server.newLedger();
  const store = ledger.connect({ leaseMs: 60_000 });
  await store.open();
  const batches = sampleBatches(size);
  const latencies: number[] = [];
  for (let done = 0; done < count; done++) {
    const batch = batches.next().value;
    const startedAt = performance.now();
    await store.commit(batch);
    latencies.push(performance.now() - startedAt);
  }
  await store.close();
  const totalMs = latencies.reduce((total, each) => total + each, 0);
  latencies.sort((a, b) => a - b);
  const [p50, p99] = [latencies[count >> 1] ?? 0, latencies[Math.floor(count * 0.99)] ?? 0];
  const perSecond = Math.round((1000 * count) / totalMs);
  return `batches of ${size}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${perSecond} commits/s, ${perSecond * size} reservations/s`;
}

async function measureRestart(server: LedgerServer): Promise<string> {
  const ledger = await server.newLedger();
  const store = ledger.connect({ leaseMs: 60_000 });
  await store.open();
  const batches = sampleBatches(250);
  for (let made = 0; made < RESTART_RESERVATIONS; made += 250) await store.commit(batches.next().value);
  await store.close();
  const startedAt = performance.now();
  const next = ledger.connect({ leaseMs: 60_000 });
  const { records } = await next.open();
  const tookMs = performance.now() - startedAt;
  await next.close();
  const { count, bytes } = await objectsOf(ledger);
  return `${records.reservations.length} reservations in ${count} objects of ${Math.round(bytes / 1000)} kB: open after ${tookMs.toFixed(0)} ms`;
}

async function objectsOf({ client, namespace }: TestLedger) {
  let [count, bytes] = [0, 0];
  await client.list(CONFIG_MAPS, { namespace, labelSelector: LEDGER_LABEL }, (object) => {
    count++;
    bytes += JSON.stringify(object).length;
  });
  return { count, bytes };
}
