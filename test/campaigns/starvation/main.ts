/**
 * `npm run starvation -- --fleets 1000 --jobs 60` plays random fleets in simulated time on the ledger's queue, each under
 * pressure until all requests of its first round are served, and looks for whoever still waits after ten days, starts later
 * than promised, or waits while there is room. `--days D` is less patient, `--seed S` is the first fleet, `--minutes M` limits the time, `--record` appends the result to
 * docs/campaigns.jsonl. The same seed gives the same fleet.
 */
import { campaignProgram } from "../frame/campaign.ts";
import { type FleetResult, fleetText, type RandomFleet, randomFleet, runFleet } from "./run-fleet.ts";

const MINUTE_MS = 60_000;
const REPORT_EVERY = 20;
const SHOWN = 3;
const FLAGS = { fleets: 100, jobs: 60, days: 10, seed: 1, minutes: Number.POSITIVE_INFINITY };

await campaignProgram("starvation", FLAGS, async ({ fleets, jobs, days, seed: first, minutes }) => {
  const startedAt = Date.now();
  const violations: string[] = [];
  const failed: number[] = [];
  const total = { served: 0, promises: 0, gaveWay: 0, starved: 0 };
  let [done, longestWaitHours] = [0, 0];
  for (; done < fleets && Date.now() - startedAt < minutes * MINUTE_MS; done++) {
    const fleet = randomFleet(first + done, jobs);
    const result = runFleet(fleet, days);
    const found = violationsOf(fleet, result);
    violations.push(...found);
    if (found.length > 0) failed.push(fleet.seed);
    total.served += result.served;
    total.promises += result.promises;
    total.gaveWay += result.gaveWay;
    total.starved += result.starved.length;
    longestWaitHours = Math.max(longestWaitHours, result.longestWaitHours);
    if ((done + 1) % REPORT_EVERY === 0) {
      const seconds = ((Date.now() - startedAt) / 1000).toFixed(0);
      console.log(
        `${done + 1} fleets in ${seconds} s: ${JSON.stringify({ ...total, longestWaitHours: Math.round(longestWaitHours) })}, ${failed.length} fleets with violations`,
      );
    }
  }
  const figures = {
    seed: first,
    fleets: done,
    jobs,
    days,
    ...total,
    longestWaitHours: Math.round(longestWaitHours),
  };
  console.log(JSON.stringify(figures));
  const [seed] = failed;
  const repeat = seed === undefined ? {} : { repeat: { seed, fleets: 1, jobs, days } };
  return { campaign: "starvation", figures, violations, ...repeat };
});

function violationsOf(fleet: RandomFleet, { starved, faults }: FleetResult): string[] {
  const lines = [
    ...starved.map(
      ({ job, waitedHours }) =>
        `${job.id} of ${job.tenant} (${job.cpus} CPU, ${job.memoryGi} GiB, priority ${job.priority}) was not served: it has waited ${Math.round(waitedHours)} h`,
    ),
    ...faults,
  ];
  const more = lines.length > SHOWN ? [`${lines.length - SHOWN} more like these`] : [];
  return [...lines.slice(0, SHOWN), ...more].map((line) => `${fleetText(fleet)}: ${line}`);
}
