import type { Specification } from "./linearizable.ts";

/** What is asked of one provider. A reservation is named by its key: the same key is the same reservation. */
export type ProviderOperation =
  | { readonly kind: "reserve"; readonly key: string; readonly cpu: number }
  | { readonly kind: "release"; readonly key: string }
  | { readonly kind: "read"; readonly key: string }
  | { readonly kind: "read-free" };

export type ProviderResult =
  | { readonly kind: "refused" }
  /** Of a reservation that nobody knows. */
  | { readonly kind: "absent" }
  | { readonly kind: "live" }
  | { readonly kind: "ended" }
  | { readonly kind: "free"; readonly cpu: number };

interface ModelReservation {
  readonly cpu: number;
  readonly isLive: boolean;
}

type State = ReadonlyMap<string, ModelReservation>;

/** A key that begins so was never heard of again: reservations of the same size under such keys are all alike. */
const ANONYMOUS = "?";

const ABSENT = { kind: "absent" } as const;

/** Sequential specification of a provider with this much CPU. */
export function providerObject(capacity: number): Specification<State, ProviderOperation, ProviderResult> {
  const freeIn = (state: State): number => {
    let free = capacity;
    for (const { cpu, isLive } of state.values()) if (isLive) free -= cpu;
    return free;
  };
  const reserve = (state: State, key: string, cpu: number) => {
    const known = state.get(key);
    if (known !== undefined) return { state, result: stateOf(known) };
    if (cpu > freeIn(state)) return { state, result: { kind: "refused" } as const };
    const granted = { cpu, isLive: true };
    return { state: new Map(state).set(key, granted), result: stateOf(granted) };
  };
  const release = (state: State, key: string) => {
    const known = state.get(key);
    if (known === undefined) return { state, result: ABSENT };
    const ended = { ...known, isLive: false };
    return { state: known.isLive ? new Map(state).set(key, ended) : state, result: stateOf(ended) };
  };
  return {
    initial: new Map(),
    nameOf: (state) =>
      [...state]
        .map(
          ([key, { cpu, isLive }]) => `${isAnonymous(key) ? `${ANONYMOUS}${cpu}` : key}${isLive ? "+" : "-"}`,
        )
        .sort()
        .join(" "),
    effectOf: (operation) => {
      if (operation.kind === "read-free") return operation.kind;
      const isAlike = operation.kind === "reserve" && isAnonymous(operation.key);
      return `${operation.kind} ${isAlike ? operation.cpu : operation.key}`;
    },
    apply: (state, operation) => {
      switch (operation.kind) {
        case "reserve":
          return reserve(state, operation.key, operation.cpu);
        case "release":
          return release(state, operation.key);
        case "read": {
          const known = state.get(operation.key);
          return { state, result: known === undefined ? ABSENT : stateOf(known) };
        }
        case "read-free":
          return { state, result: { kind: "free", cpu: freeIn(state) } };
      }
    },
    isSame: (a, b) => a.kind === b.kind && (a.kind !== "free" || (b.kind === "free" && a.cpu === b.cpu)),
  };
}

function stateOf({ isLive }: ModelReservation): ProviderResult {
  return { kind: isLive ? "live" : "ended" };
}

export function anonymousKey(number: number): string {
  return `${ANONYMOUS}${number}`;
}

function isAnonymous(key: string): boolean {
  return key.startsWith(ANONYMOUS);
}
