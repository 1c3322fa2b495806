import { mean, median } from "../../measure/statistics.ts";
import type { Answer } from "../subject/calls.ts";

/**
 * The rules of deciding, written down a second time from §5 of the design, by brute force and without a line of the broker's
 * code: every cluster is held against every rule, every score is worked out in full, and nothing is fast.
 */

/** Amounts as people count them. */
export interface Amounts {
  readonly cpuMillis: number;
  readonly memoryMi: number;
  readonly gpus: number;
}

export interface OracleCluster {
  readonly id: string;
  readonly allocatable: Amounts;
  readonly allocated: Amounts;
  /** Per CPU, GB (10⁹ bytes) and GPU for an hour; a GPU without a price makes requests for GPUs unpriced. */
  readonly price?: {
    readonly cpu: number;
    readonly memoryGb: number;
    readonly gpu?: number;
    readonly currency: string;
  };
  readonly region?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly nodeShapes: readonly Amounts[];
  readonly isCordoned: boolean;
}

export interface OracleRequest {
  readonly requester: string;
  readonly wanted: Amounts;
  readonly target?: string;
  readonly excluded: readonly string[];
  readonly regions: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly perNode?: Amounts;
}

export interface OracleRules {
  readonly weights: { readonly resources: number; readonly cost: number };
  readonly currency: string;
  /** Worth of one unit of another currency. */
  readonly rates: Readonly<Record<string, number>>;
  /** Who lends nothing to whom. */
  readonly denied: Readonly<Record<string, readonly string[]>>;
}

/** Reserved amounts by provider. */
export type ReservedAmounts = ReadonlyMap<string, readonly Amounts[]>;

export interface OracleInput {
  readonly clusters: readonly OracleCluster[];
  readonly reserved: ReservedAmounts;
  readonly rules: OracleRules;
}

export interface OracleResult {
  /** The best one. Undefined: refused. */
  readonly winner: string | undefined;
  /** Those whose score is the same but for the last digits, the best one among them: which digit tips them is no rule. */
  readonly level: readonly string[];
  /** For each cluster that may not lend, every reason there is. */
  readonly refusals: ReadonlyMap<string, readonly string[]>;
}

/** Scores nearer than this are the same: the order in which parts are added may tip the last digits. */
const SAME = 1e-9;
const BYTES_PER_MI = 2 ** 20;
const NAMES = ["cpuMillis", "memoryMi", "gpus"] as const;
type AmountName = (typeof NAMES)[number];

export function decideByRules(world: OracleInput, request: OracleRequest): OracleResult {
  const refusals = new Map<string, readonly string[]>();
  const fitting: OracleCluster[] = [];
  for (const cluster of world.clusters) {
    const reasons = reasonsAgainst(cluster, request, world);
    if (reasons.length > 0) refusals.set(cluster.id, reasons);
    else fitting.push(cluster);
  }
  return { ...bestOf(fitting, request, world), refusals };
}

function reasonsAgainst(cluster: OracleCluster, request: OracleRequest, world: OracleInput): string[] {
  const { wanted, perNode } = request;
  const free = freeOf(cluster, world.reserved);
  const rules: readonly (readonly [reason: string, applies: boolean])[] = [
    ["self", cluster.id === request.requester],
    ["target", request.target !== undefined && request.target !== cluster.id],
    ["excluded", request.excluded.includes(cluster.id)],
    ["region", request.regions.length > 0 && !request.regions.includes(cluster.region ?? "")],
    ["labels", Object.entries(request.labels).some(([name, value]) => cluster.labels[name] !== value)],
    ["cordoned", cluster.isCordoned],
    ["lending-policy", world.rules.denied[cluster.id]?.includes(request.requester) === true],
    ["capacity", NAMES.some((name) => wanted[name] > free[name])],
    ["node-shape", perNode !== undefined && !cluster.nodeShapes.some((shape) => isWithin(perNode, shape))],
  ];
  return rules.filter(([, applies]) => applies).map(([reason]) => reason);
}

/** Never below nothing: a cluster that shrank has promised more than it has, and lends nothing. */
function freeOf({ id, allocatable, allocated }: OracleCluster, reserved: ReservedAmounts): Amounts {
  const lent = reservedBy(id, reserved);
  const left = (name: AmountName): number => Math.max(0, allocatable[name] - allocated[name] - lent[name]);
  return { cpuMillis: left("cpuMillis"), memoryMi: left("memoryMi"), gpus: left("gpus") };
}

function reservedBy(id: string, reserved: ReservedAmounts): Amounts {
  const total = { cpuMillis: 0, memoryMi: 0, gpus: 0 };
  for (const amounts of reserved.get(id) ?? []) for (const name of NAMES) total[name] += amounts[name];
  return total;
}

function isWithin(wanted: Amounts, room: Amounts): boolean {
  return NAMES.every((name) => wanted[name] <= room[name]);
}

function bestOf(
  fitting: readonly OracleCluster[],
  request: OracleRequest,
  world: OracleInput,
): Pick<OracleResult, "winner" | "level"> {
  const { wanted } = request;
  const asked = NAMES.filter((name) => wanted[name] > 0);
  const prices = fitting.map((cluster) => hourlyPrice(cluster, wanted, world.rules));
  const costs = costScores(prices);
  const { resources, cost } = world.rules.weights;
  const scored = fitting.map((cluster, at) => {
    const free = freeOf(cluster, world.reserved);
    const lent = reservedBy(cluster.id, world.reserved);
    const meanOf = (part: (name: AmountName) => number): number =>
      mean(asked.map((name) => part(name) / cluster.allocatable[name])) ?? 0;
    const headroom = meanOf((name) => free[name] - wanted[name]);
    const share = meanOf((name) => lent[name]);
    // Where nobody has a price, its weight goes to resources: headroom alone is left.
    const costPart = costs[at];
    const score =
      costPart === undefined ? headroom : (resources * headroom + cost * costPart) / (resources + cost);
    return { id: cluster.id, score, share };
  });
  // The best score, then the least lent, then the first by name.
  const ranked = scored.toSorted((a, b) => b.score - a.score || a.share - b.share || (a.id < b.id ? -1 : 1));
  const best = ranked[0]?.score ?? 0;
  return {
    winner: ranked[0]?.id,
    level: ranked.filter(({ score }) => best - score < SAME).map(({ id }) => id),
  };
}

/** Undefined: something that is asked for has no price, or the currency no rate. */
function hourlyPrice({ price }: OracleCluster, wanted: Amounts, rules: OracleRules): number | undefined {
  if (price === undefined || (wanted.gpus > 0 && price.gpu === undefined)) return undefined;
  const rate = price.currency === rules.currency ? 1 : rules.rates[price.currency];
  if (rate === undefined) return undefined;
  const memoryGb = (wanted.memoryMi * BYTES_PER_MI) / 1e9;
  const sum =
    (wanted.cpuMillis / 1000) * price.cpu + memoryGb * price.memoryGb + wanted.gpus * (price.gpu ?? 0);
  return sum * rate;
}

/** Lowest price by price; the median of the priced for those without one; all undefined where nobody has one. */
function costScores(prices: readonly (number | undefined)[]): (number | undefined)[] {
  const known = prices.filter((price) => price !== undefined);
  if (known.length === 0) return prices.map(() => undefined);
  const lowest = Math.min(...known);
  const scoreOf = (price: number): number => (price === 0 ? 1 : lowest / price);
  const middle = median(known.map(scoreOf)) ?? 0;
  return prices.map((price) => (price === undefined ? middle : scoreOf(price)));
}

/** What the broker did, beside what the rules say. */
export interface Check {
  /** `tie`: scores that are equal but for the last digits; either choice is right. */
  readonly verdict: "right" | "tie" | "wrong";
  readonly expected: string;
  readonly got: string;
  /** Of a wrong one, in words. */
  readonly problem?: string;
}

const REFUSED = "refused";

export function checkOf(expected: OracleResult, answer: Answer): Check {
  const { status, provider } = answer;
  if (status === 409) return checkRefusal(expected, answer);
  if (status === 201 && provider !== undefined) return checkGrant(expected, provider);
  return wrong(expected.winner ?? REFUSED, `status ${status}`, `answered with ${status}`);
}

function checkRefusal({ winner, refusals }: OracleResult, { reasons = [] }: Answer): Check {
  if (winner !== undefined) return wrong(winner, REFUSED, `refused, but ${winner} can lend`);
  const problem = wrongReason(refusals, reasons);
  return problem === undefined
    ? { verdict: "right", expected: REFUSED, got: REFUSED }
    : wrong(REFUSED, REFUSED, problem);
}

function checkGrant({ winner, level, refusals }: OracleResult, provider: string): Check {
  const expected = winner ?? REFUSED;
  if (provider === winner) return { verdict: "right", expected, got: provider };
  if (level.includes(provider)) return { verdict: "tie", expected, got: provider };
  const why = refusals.get(provider)?.join(", ") ?? "another one scores more";
  return wrong(expected, provider, `${provider} lends, which is wrong: ${why}`);
}

function wrong(expected: string, got: string, problem: string): Check {
  return { verdict: "wrong", expected, got, problem };
}

/** Every cluster must be named, and with a reason that holds; which one, where there are several, is left to the broker. */
function wrongReason(
  refusals: OracleResult["refusals"],
  reasons: NonNullable<Answer["reasons"]>,
): string | undefined {
  const given = new Map(reasons.map(({ clusterID, reason }) => [clusterID, reason]));
  for (const [id, right] of refusals) {
    const reason = given.get(id);
    if (reason === undefined) return `refused rightly, but without a word on ${id}`;
    if (!right.includes(reason))
      return `refused rightly, but ${id} is said to fail by ${reason}, not ${right.join(" or ")}`;
  }
  return undefined;
}
