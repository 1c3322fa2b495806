import { resourceVector } from "@resource-broker/base";
import type { CommitBatch } from "@resource-broker/broker";
import {
  type Advertisement,
  apply,
  DEFAULT_POLICY,
  decide,
  emptyLedger,
  type LedgerEvent,
} from "@resource-broker/domain";

const NOW = Date.UTC(2026, 0, 5, 12);
const PROVIDERS = 1000;
const SAMPLES = 64;
const GIB = 2 ** 30;

function advertisementOf(index: number): Advertisement {
  const allocatable = resourceVector({
    cpuMillis: (64 + (index % 97)) * 1000,
    memoryBytes: (256 + (index % 89)) * GIB,
  });
  const cpuHour = 0.02 + (index % 101) / 5000;
  return {
    clusterId: `cluster-${index}`,
    capacity: allocatable,
    allocatable,
    allocated: resourceVector({ cpuMillis: (index % 13) * 1000, memoryBytes: (index % 31) * GIB }),
    usage: [],
    nodeShapes: [],
    gpuModels: [],
    labels: {},
    protocol: 2,
    cost: { currency: "EUR", onDemand: { cpuHour, memoryGbHour: cpuHour / 10 } },
  };
}

/** Real grants among a thousand providers: what the engine would hand over. */
function sampleGrants(): Extract<LedgerEvent, { kind: "granted" }>[] {
  const ledger = emptyLedger();
  for (let index = 0; index < PROVIDERS; index++) {
    apply(ledger, { kind: "advertised", at: NOW, advertisement: advertisementOf(index) });
  }
  const resources = resourceVector({ cpuMillis: 4000, memoryBytes: 8 * GIB });
  const request = {
    resources,
    priority: 0,
    durationMs: 3_600_000,
    constraints: {},
    tier: "on-demand" as const,
  };
  const grants: Extract<LedgerEvent, { kind: "granted" }>[] = [];
  for (let index = 0; index < SAMPLES; index++) {
    const requester = `cluster-${index}`;
    const names = { reservationId: `rsv-${index}`, decisionId: `dec-${index}`, key: `key-${index}` };
    const { events } = decide(
      ledger,
      { kind: "reserve", requester, request, ...names },
      { now: NOW, policy: DEFAULT_POLICY },
    );
    for (const event of events) {
      apply(ledger, event);
      if (event.kind === "granted") grants.push(event);
    }
  }
  return grants;
}

/** Batches of so many grants, endless, each with ids of its own in random order, as hashes are. */
export function* sampleBatches(size: number): Generator<CommitBatch, never> {
  const grants = sampleGrants();
  let made = 0;
  for (let number = 1; ; number++) {
    const entries = Array.from({ length: size }, () => {
      const grant = grants[made++ % grants.length];
      if (grant === undefined) throw new Error("no grants to sample from");
      const name = scattered(made);
      const reservation = { ...grant.reservation, id: `rsv-cluster-${name}`, key: `key-${made}` };
      const decision = { ...grant.decision, id: `dec-${scattered(made)}` };
      return {
        by: reservation.requester,
        action: "reserve",
        events: [{ ...grant, at: NOW + made, reservation, decision }],
      };
    });
    yield { number, at: NOW + made, entries };
  }
}

function scattered(index: number): string {
  return (Math.imul(index, 0x9e3779b1) >>> 0).toString(36).padStart(16, "0");
}
