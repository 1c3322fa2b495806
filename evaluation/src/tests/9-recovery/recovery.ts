import type { Context, EvaluationTest, Size } from "../../evaluation-test.ts";
import { withCleanup } from "../../measure/with-cleanup.ts";
import { countText } from "../../report/number-text.ts";
import { requestFor } from "../subject/bodies.ts";
import { fill, grantedIds } from "../subject/fill.ts";
import { openSubject } from "../subject/subject.ts";
import { killOnce, openClusters, SMALL } from "./kill-once.ts";
import { type Recovery, recoveryFaults } from "./results.ts";
import { chartsOf, findingsOf, MAIN_STEP, type RecoveryResult } from "./show.ts";

/** They lend, too, and each lends at most 1,000 times at once. */
const FILLERS: Readonly<Record<Size, number>> = { smoke: 20, quick: 100, full: 200 };
/** On their way when the broker is killed; few, so that the ledger does not grow much from kill to kill. */
const IN_FLIGHT: Readonly<Record<Size, number>> = { smoke: 20, quick: 50, full: 50 };

const PLANS: Readonly<Record<Size, readonly { readonly reservations: number; readonly kills: number }[]>> = {
  smoke: [{ reservations: 500, kills: 1 }],
  quick: [
    { reservations: 1000, kills: 2 },
    { reservations: MAIN_STEP, kills: 4 },
  ],
  full: [
    { reservations: 1000, kills: 5 },
    { reservations: MAIN_STEP, kills: 20 },
    { reservations: 100_000, kills: 5 },
  ],
};

function run(context: Context): Promise<RecoveryResult> {
  return withCleanup(async (onCleanup) => {
    const { size, signal, progress } = context;
    const subject = await openSubject(context, onCleanup);
    const { broker } = subject;
    if (broker === undefined) throw new Error("only our own broker can be killed");
    const acknowledged = new Set<string>();
    const steps: { planned: number; recoveries: Recovery[] }[] = [];
    for (const [index, { reservations, kills }] of PLANS[size].entries()) {
      const step = { planned: reservations, recoveries: [] as Recovery[] };
      steps.push(step);
      const say = (share: number, doing: string): void =>
        progress((index + share) / PLANS[size].length, `${doing} at ${countText(reservations)}`);
      await withCleanup(async (closing) => {
        const answers = await fill(await openClusters(subject, FILLERS[size], closing), {
          count: reservations - acknowledged.size,
          request: requestFor(SMALL),
          name: `fill-${reservations}`,
          signal,
          onShare: (share) => say(share / 2, "filling"),
        });
        for (const id of grantedIds(answers)) acknowledged.add(id);
      });
      for (let kill = 1; kill <= kills; kill++) {
        signal.throwIfAborted();
        say(0.5 + (0.5 * (kill - 1)) / kills, `kill ${kill} of ${kills}`);
        const name = `kill-${reservations}-${kill}`;
        step.recoveries.push(
          await killOnce({ subject, broker, inFlight: IN_FLIGHT[size], acknowledged, name }),
        );
      }
    }
    return { steps };
  });
}

export const recoveryTest: EvaluationTest<RecoveryResult> = {
  id: "9",
  title: "Recovery after kill -9",
  method: [
    `A real broker process (SQLite store, every grant durable before its reply) is filled by ${FILLERS.full} clusters over mTLS. Then ${IN_FLIGHT.full} of them send one more request in the same moment, and as soon as`,
    "the first of them is answered the process gets SIGKILL. It is started again on the same files. Time: the monotonic clock of the load process, from the spawn until",
    "`/readyz` and `/healthz` of the API say 200 (asked every 5 ms), and until a cluster has connected, advertised, and another one has a new reservation. Then the whole ledger is listed and",
    "held against every acknowledgement ever given: nothing may be lost, and nothing may be there that nobody asked for.",
  ].join("\n"),
  expectedSeconds: (size) => ({ smoke: 4, quick: 25, full: 150 })[size],
  run,
  faults: ({ steps }) => recoveryFaults(steps.flatMap(({ recoveries }) => recoveries)),
  charts: chartsOf,
  findings: findingsOf,
};
