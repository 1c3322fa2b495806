import { apply, DEFAULT_POLICY, decide, emptyLedger, type Ledger } from "@resource-broker/domain";
import { chooseProvider, cluster, priced, request } from "@resource-broker/domain/testing";
import { type BenchRow, measure } from "./bench-row.ts";

const NOW = Date.UTC(2026, 0, 5, 12);
const FLEETS = [
  { clusters: 100, target: "" },
  { clusters: 1000, target: "0.1 ms" },
  { clusters: 10_000, target: "1 ms" },
];

/** Clusters of different sizes, loads and prices, so that few score alike; or all the same, so that all tie. */
function fleetOf(clusters: number, areAlike = false): Ledger {
  const ledger = emptyLedger();
  for (let index = 0; index < clusters; index++) {
    const varied = {
      cpu: 16 + (index % 97),
      memoryGi: 64 + (index % 89),
      gpu: index % 5,
      allocated: { cpu: index % 13, memoryGi: index % 31 },
      more: { cost: priced(0.02 + (index % 101) / 5000), instance: "bench", sequence: 1 },
    };
    const advertisement = cluster(`cluster-${index}`, areAlike ? {} : varied);
    apply(ledger, { kind: "advertised", at: NOW, advertisement });
  }
  return ledger;
}

export function schedulingBenchmarks(): BenchRow[] {
  return FLEETS.flatMap(({ clusters, target }) => {
    const ledger = fleetOf(clusters);
    const alike = fleetOf(clusters, true);
    const context = { now: NOW, policy: DEFAULT_POLICY };
    const fitting = { requester: "cluster-0", request: request({ cpu: 4, memoryGi: 8 }), ...context };
    const ratings = Object.fromEntries(
      ledger.candidateTable.candidates.map(({ clusterId }, index) => [clusterId, (index % 10) / 10]),
    );
    const weights = { ...DEFAULT_POLICY.weights, latency: 0.2 };
    const rated = { ...fitting, policy: { ...DEFAULT_POLICY, weights, ratings: { latency: ratings } } };
    const command = {
      kind: "reserve",
      requester: "cluster-0",
      request: fitting.request,
      reservationId: "r",
      decisionId: "d",
    } as const;
    const unschedulable = { ...command, request: request({ cpu: 1000 }) };
    const name = `${clusters.toLocaleString("en")} providers`;
    return [
      measure(`decide among ${name}, explanation deferred`, target, () =>
        chooseProvider(ledger.candidateTable, fitting, "d"),
      ),
      measure(`… with a third scorer that rates them`, "", () =>
        chooseProvider(ledger.candidateTable, rated, "d"),
      ),
      measure(`… with its decision record`, "", () => decide(ledger, command, context)),
      measure(`… all of them alike`, "", () => chooseProvider(alike.candidateTable, fitting, "d")),
      measure(`… refused everywhere, with its record`, "", () => decide(ledger, unschedulable, context)),
    ];
  });
}
