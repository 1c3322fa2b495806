import type { Specification } from "./linearizable.ts";

/** What is asked of one provider. A reservation is named by its key: the same key is the same reservation. */
export type ProviderOperation =
  | {
      readonly kind: "reserve";
      readonly key: string;
      readonly cpu: number;
      /** Who asks, and whose share decides its place among those who wait. */
      readonly tenant: string;
      /** It waits if there is no room. */
      readonly wait?: true;
    }
  | { readonly kind: "release"; readonly key: string }
  | { readonly kind: "read"; readonly key: string }
  | { readonly kind: "read-free" }
  /** The waiting requests of a tenant, the first first. */
  | { readonly kind: "read-queue"; readonly tenant: string };

type Reserve = Extract<ProviderOperation, { readonly kind: "reserve" }>;

export type ProviderResult =
  | { readonly kind: "refused" }
  /** Of a reservation that nobody knows. */
  | { readonly kind: "absent" }
  | { readonly kind: "waiting" }
  | { readonly kind: "live" }
  | { readonly kind: "ended" }
  /** It was released while it waited. */
  | { readonly kind: "left" }
  /** The key was released while its request waited, and makes no other one. */
  | { readonly kind: "closed" }
  | { readonly kind: "free"; readonly cpu: number }
  | { readonly kind: "queue"; readonly keys: readonly string[] };

interface ModelRequest {
  readonly cpu: number;
  readonly tenant: string;
  readonly phase: "waiting" | "live" | "ended" | "left";
}

/** Those that wait are in the order in which they came: a request that is granted keeps its place in the map. */
type State = ReadonlyMap<string, ModelRequest>;
type Next = { readonly state: State; readonly result: ProviderResult };

/** A key that begins so was never heard of again: requests of the same size and tenant under such keys are all alike. */
const ANONYMOUS = "?";

const ABSENT = { kind: "absent" } as const;

/**
 * Sequential specification of a provider with this much CPU. Whoever waits is granted in a step that no call makes: the
 * tenant that holds the least comes first, of equals the one that waits longest, and in a tenant who came first. Who does
 * not fit is passed over. A newcomer is decided when none of those who wait fits, or waits behind them. It may also be told to
 * wait where it fits: a look at the queue is cut short after some milliseconds, and the next one grants it.
 */
export function providerObject(capacity: number): Specification<State, ProviderOperation, ProviderResult> {
  const freeIn = (state: State): number => capacity - heldIn(state);

  const admit = (state: State): State | undefined => {
    const free = freeIn(state);
    for (const key of inOrder(state)) {
      const entry = state.get(key);
      if (entry !== undefined && entry.cpu <= free)
        return new Map(state).set(key, { ...entry, phase: "live" });
    }
    return undefined;
  };

  const reserve = (
    state: State,
    { key, cpu, tenant, wait }: Reserve,
    told: ProviderResult | undefined,
  ): Next | undefined => {
    const known = state.get(key);
    if (known?.phase === "left") return { state, result: { kind: "closed" } };
    if (known !== undefined) return { state, result: { kind: known.phase } };
    const isSettled = admit(state) === undefined;
    const fits = isSettled && cpu <= freeIn(state);
    if (wait === undefined && !fits) return isSettled ? { state, result: { kind: "refused" } } : undefined;
    const isLive = fits && isDecided(wait, told);
    const phase = isLive ? "live" : "waiting";
    return { state: new Map(state).set(key, { cpu, tenant, phase }), result: { kind: phase } };
  };

  const release = (state: State, key: string): Next => {
    const known = state.get(key);
    if (known === undefined) return { state, result: ABSENT };
    const phase = AFTER_RELEASE[known.phase];
    return {
      state: phase === known.phase ? state : new Map(state).set(key, { ...known, phase }),
      result: { kind: phase },
    };
  };

  return {
    initial: new Map(),
    nameOf,
    effectOf,
    step: admit,
    apply: (state, operation, told) => {
      switch (operation.kind) {
        case "reserve":
          return reserve(state, operation, told);
        case "release":
          return release(state, operation.key);
        case "read":
          return { state, result: { kind: state.get(operation.key)?.phase ?? "absent" } };
        case "read-free":
          return { state, result: { kind: "free", cpu: freeIn(state) } };
        case "read-queue":
          return { state, result: { kind: "queue", keys: waitingOf(state, operation.tenant) } };
      }
    },
    isSame: (a, b) => textOf(a) === textOf(b),
  };
}

/** Whoever may wait waits, and is granted by a step, unless its caller was told otherwise at once. */
function isDecided(wait: true | undefined, told: ProviderResult | undefined): boolean {
  return wait === undefined || told?.kind === "live";
}

const AFTER_RELEASE = { waiting: "left", live: "ended", ended: "ended", left: "left" } as const;

/** The keys of those that wait, who is granted first first. */
function inOrder(state: State): string[] {
  const tenants = new Map<string, string[]>();
  for (const [key, { tenant, phase }] of state)
    if (phase === "waiting") tenants.set(tenant, [...(tenants.get(tenant) ?? []), key]);
  return [...tenants]
    .map(([tenant, keys]) => ({ keys, held: heldIn(state, tenant) }))
    .sort((a, b) => a.held - b.held)
    .flatMap(({ keys }) => keys);
}

function heldIn(state: State, tenant?: string): number {
  let held = 0;
  for (const entry of state.values())
    if (entry.phase === "live" && (tenant ?? entry.tenant) === entry.tenant) held += entry.cpu;
  return held;
}

function waitingOf(state: State, tenant: string): string[] {
  return [...state]
    .filter(([, entry]) => entry.phase === "waiting" && entry.tenant === tenant)
    .map(([key]) => key);
}

/** Only among those that wait does it matter who came first. */
function nameOf(state: State): string {
  const waiting: string[] = [];
  const others: string[] = [];
  for (const [key, { cpu, tenant, phase }] of state) {
    const name = isAnonymous(key) ? `${ANONYMOUS}${tenant}/${cpu}` : key;
    if (phase === "waiting") waiting.push(name);
    else others.push(`${name}:${phase}`);
  }
  return `${waiting.join(" ")} | ${others.sort().join(" ")}`;
}

function effectOf(operation: ProviderOperation): string {
  switch (operation.kind) {
    case "read-free":
      return operation.kind;
    case "read-queue":
      return `${operation.kind} ${operation.tenant}`;
    case "reserve": {
      const { key, cpu, tenant, wait } = operation;
      return `reserve ${isAnonymous(key) ? `${tenant}/${cpu} ${wait}` : key}`;
    }
    default:
      return `${operation.kind} ${operation.key}`;
  }
}

export function textOf(result: ProviderResult): string {
  return Object.values(result).join(" ");
}

export function anonymousKey(number: number): string {
  return `${ANONYMOUS}${number}`;
}

function isAnonymous(key: string): boolean {
  return key.startsWith(ANONYMOUS);
}
