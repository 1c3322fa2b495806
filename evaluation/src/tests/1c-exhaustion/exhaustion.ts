import { seededRandom } from "@resource-broker/testkit";
import type { Context, EvaluationTest } from "../../evaluation-test.ts";
import { withCleanup } from "../../measure/with-cleanup.ts";
import { type SideBySide, sideBySide } from "../subject/side-by-side.ts";
import { connectAll, openSubject, type Subject, settle } from "../subject/subject.ts";
import { exhaust } from "./exhaust.ts";
import { ASKED, type BrokerRuns, type Exhaustion, exhaustionFaults, type ProviderSize } from "./results.ts";
import { chartsOf, findingsOf } from "./show.ts";

/** Room for 8 and for 7, as the predecessor had. */
const TWO: readonly Omit<ProviderSize, "clusterId">[] = [
  { cpuMillis: 4000, memoryMi: 8192 },
  { cpuMillis: 3500, memoryMi: 8192 },
];
const MANY_CLUSTERS = {
  smoke: { lenders: 4, askers: 4 },
  quick: { lenders: 10, askers: 16 },
  full: { lenders: 40, askers: 50 },
};

function runOne(context: Context): Promise<BrokerRuns> {
  return withCleanup(async (onCleanup) => {
    const subject = await openSubject(context, onCleanup);
    context.progress(0.1, "two clusters, one request after the other");
    const runs = [
      await exhaustWith(subject, context, { name: "two clusters, one at a time", sizes: TWO, requesters: 1 }),
    ];
    // Somebody else's broker cannot be given a second fleet of clusters: it knows those of the folder and no others.
    if (subject.broker !== undefined) {
      const { lenders, askers } = MANY_CLUSTERS[context.size];
      context.progress(0.5, `${lenders} clusters, ${askers} ask at the same time`);
      const sizes = randomSizes(context.seed, lenders);
      runs.push(
        await exhaustWith(subject, context, {
          name: `${lenders} clusters, ${askers} at a time`,
          sizes,
          requesters: askers,
        }),
      );
    }
    return { subject: subject.label, runs };
  });
}

interface Plan {
  readonly name: string;
  readonly sizes: readonly Omit<ProviderSize, "clusterId">[];
  readonly requesters: number;
}

/** Clusters of their own for every run: those of the run before are full. */
function exhaustWith(
  subject: Subject,
  { signal }: Context,
  { name, sizes, requesters }: Plan,
): Promise<Exhaustion> {
  return withCleanup(async (onCleanup) => {
    const offset = subject.broker === undefined || requesters === 1 ? 0 : 1 + TWO.length;
    const identities = subject.identities(offset + requesters + sizes.length).slice(offset);
    const connections = await connectAll(subject, identities, { later: onCleanup });
    const providers = connections.slice(requesters).map((connection, at) => {
      const size = sizes[at] ?? { cpuMillis: 0, memoryMi: 0 };
      return { connection, provider: { clusterId: connection.clusterId, ...size } };
    });
    const canRelease = subject.broker !== undefined;
    return exhaust({
      name,
      providers,
      requesters: connections.slice(0, requesters),
      canRelease,
      settle: (some) => settle(subject, some, signal),
      signal,
    });
  });
}

/** Some run out of CPU first, some of memory, some leave a rest that fits nobody. */
function randomSizes(seed: number, count: number): Omit<ProviderSize, "clusterId">[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => ({
    cpuMillis: random.between(400, 9000),
    memoryMi: random.between(200, 4500),
  }));
}

export const exhaustionTest: EvaluationTest<SideBySide<BrokerRuns>> = {
  id: "1c",
  title: "Exhaustion: reserve until nothing is left",
  method: [
    `A real broker process over mTLS. Two clusters advertise room for 8 and 7 reservations of ${ASKED.cpuMillis}m CPU and ${ASKED.memoryMi}Mi; a third one asks`,
    "until it has been refused three times, then releases one reservation and asks twice more. Then the same with a crowd: many clusters of random sizes (from",
    "the seed; some run out of CPU first, some of memory) and many askers at the same time. Counted from the replies, a second time: how many each cluster could",
    "lend, and how many it did. Every refusal must be 409 and name every cluster as full. With `--baseline` the first part runs on the other broker, too, with clusters from the folder, ten seconds",
    "after they advertised; what it does wrong is told beside its figures, and is no fault of this system.",
  ].join("\n"),
  expectedSeconds: (size) => ({ smoke: 3, quick: 4, full: 8 })[size],
  run: (context) => sideBySide(context, runOne),
  faults: ({ ours }) => ours.runs.flatMap(exhaustionFaults).map((fault) => `${ours.subject}: ${fault}`),
  charts: chartsOf,
  findings: findingsOf,
};
