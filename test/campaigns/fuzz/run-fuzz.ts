import { memoryOf, type SeededRandom } from "@resource-broker/testkit";
import { bodies } from "./attacks/bodies.ts";
import { certificates, damagedCertificates } from "./attacks/certificates.ts";
import { json } from "./attacks/json.ts";
import { noise, smuggling } from "./attacks/raw-lines.ts";
import { foreignReservations, quantities } from "./attacks/reservations.ts";
import { slowClients } from "./attacks/slow-clients.ts";
import { type Attack, answerTo, type FuzzEnvironment } from "./environment.ts";

const ATTACKS: readonly Attack[] = [
  bodies,
  quantities,
  foreignReservations,
  json,
  smuggling,
  noise,
  certificates,
  damagedCertificates,
  slowClients,
];
const LANES = 12;
const SAMPLE_EVERY_MS = 5000;
/** Memory may settle for so long, as a part of the whole, before it is compared. */
const SETTLING = 1 / 3;
const GROWTH = { factor: 1.3, mb: 40 };
const MOST_PROBLEMS = 20;

export interface FuzzOptions {
  readonly random: SeededRandom;
  readonly untilMs: number;
  readonly now: () => number;
  readonly print: (line: string) => void;
}

export interface FuzzResult {
  /** How often each was tried. */
  readonly attacks: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
  /** Memory once it had settled, and at the end. */
  readonly firstMb: number;
  readonly lastMb: number;
}

export async function runFuzz(env: FuzzEnvironment, options: FuzzOptions): Promise<FuzzResult> {
  const { random, untilMs, now, print } = options;
  const pid = env.broker.pid ?? 0;
  const attacks = new Map<string, number>(ATTACKS.map(({ name }) => [name, 0]));
  const problems: string[] = [];
  const memory: number[] = [];
  const isOver = (): boolean => now() >= untilMs || problems.length >= MOST_PROBLEMS;

  const lane = async (number: number): Promise<void> => {
    const own = random.fork(number);
    for (let each = 0; !isOver(); each++) {
      const chance = own.fork(each);
      const attack = choose(chance);
      const problem = await attack.run(env, chance);
      attacks.set(attack.name, (attacks.get(attack.name) ?? 0) + 1);
      if (problem !== undefined) problems.push(`${problem} (lane ${number}, attack ${each})`);
    }
  };
  const watch = setInterval(() => {
    void env.advertise();
    try {
      const { rssMb } = memoryOf(pid);
      memory.push(rssMb);
      const total = [...attacks.values()].reduce((sum, count) => sum + count, 0);
      print(`${total} attacks, ${problems.length} problems, ${rssMb.toFixed(0)} MB`);
    } catch {
      problems.push("the broker has ended");
    }
  }, SAMPLE_EVERY_MS);
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
  clearInterval(watch);

  const { firstMb, lastMb, problem } = growthIn(memory);
  problems.push(...(problem === undefined ? [] : [problem]), ...(await aftermath(env, pid)));
  return { attacks, problems, firstMb, lastMb };
}

/** It must be the same process, it must answer, and its log must be free of surprises. */
async function aftermath({ broker, admin }: FuzzEnvironment, pid: number): Promise<string[]> {
  const problems: string[] = [];
  if (broker.pid !== pid) problems.push("the broker has ended, or is another process");
  const reply = await answerTo(admin, "/api/v1/policy");
  if (reply?.status !== 200) problems.push(`the broker does not answer any more: ${reply?.status}`);
  const complaints = (await broker.logLines()).filter((line) => /"level":"?(error|fatal|50|60)/.test(line));
  problems.push(...complaints.slice(0, MOST_PROBLEMS).map((line) => `in its log: ${line.slice(0, 500)}`));
  const code = await broker.stop();
  if (code !== 0) problems.push(`it ended with ${code} when asked to stop`);
  return problems;
}

function growthIn(memory: readonly number[]) {
  const settled = memory.slice(Math.floor(memory.length * SETTLING));
  const middle = Math.ceil(settled.length / 2);
  const first = median(settled.slice(0, middle));
  const last = settled.length < 2 ? first : median(settled.slice(middle));
  const hasGrown = last > first * GROWTH.factor && last > first + GROWTH.mb;
  const [firstMb, lastMb] = [Math.round(first), Math.round(last)];
  return {
    firstMb,
    lastMb,
    ...(hasGrown ? { problem: `memory grows: ${firstMb} MB, then ${lastMb} MB` } : {}),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

function choose(random: SeededRandom): Attack {
  const total = ATTACKS.reduce((sum, { weight }) => sum + weight, 0);
  let roll = (random.below(1e6) / 1e6) * total;
  for (const attack of ATTACKS) {
    roll -= attack.weight;
    if (roll < 0) return attack;
  }
  return bodies;
}
