import { type Call, checkLinearizable } from "./linearizable.ts";
import {
  anonymousKey,
  type ProviderOperation,
  type ProviderResult,
  providerObject,
  textOf,
} from "./provider-object.ts";

export type ProviderCall = Call<ProviderOperation, ProviderResult>;

/** Call this when the answer is there. `nothing happened`: the broker said so, and the call is struck out. */
export type Return = (result: ProviderResult | "nothing happened") => void;

/** Writes down what the callers of one provider saw, in the order they saw it. */
export class History {
  readonly provider: string;
  readonly #capacity: number;
  readonly #calls = new Set<{ call: ProviderCall }>();
  #moment = 0;

  constructor(provider: string, capacity: number) {
    this.provider = provider;
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** How many requests were told that they wait. */
  get waited(): number {
    const waiting = [...this.#calls].flatMap(({ call: { operation, returned } }) =>
      returned?.result.kind === "waiting" ? keysIn(operation) : [],
    );
    return new Set(waiting).size;
  }

  invoke(operation: ProviderOperation): Return {
    const line = { call: { operation, invokedAt: this.#moment++ } as ProviderCall };
    this.#calls.add(line);
    return (result) => {
      if (result === "nothing happened") this.#calls.delete(line);
      else line.call = { ...line.call, returned: { at: this.#moment++, result } };
    };
  }

  /** Why no order of the calls explains what was seen; undefined when one does. */
  problem(): string | undefined {
    const { isLinearizable, problem } = this.judge();
    return isLinearizable === false ? problem : undefined;
  }

  /** `undecided`: too many orders are possible, and none of those that were tried explains it. */
  judge(): { readonly isLinearizable: boolean | "undecided"; readonly problem: string } {
    const calls = [...this.#calls].map(({ call }) => call);
    const judgement = checkLinearizable(withAnonymousKeys(calls), providerObject(this.#capacity));
    const { isLinearizable } = judgement;
    const stuck = "stuck" in judgement ? judgement.stuck.map(describe).join("; ") : "";
    const problem = `the history of ${this.provider} (${calls.length} calls) has no order: none of these can be next: ${stuck}`;
    return { isLinearizable, problem };
  }

  /** The calls with the moments of question and answer, one on each line. */
  lines(): string[] {
    return [...this.#calls].map(({ call }) => {
      const { invokedAt, returned } = call;
      return `${invokedAt}${returned === undefined ? "" : `-${returned.at}`} ${describe(call)}`;
    });
  }
}

/**
 * Keys that no answer speaks of: which of them it was cannot be told, so the search need not try them all. Of several
 * calls with such a key the first stands for all.
 */
function withAnonymousKeys(calls: readonly ProviderCall[]): ProviderCall[] {
  const known = new Set(
    calls.flatMap(({ operation, returned }) =>
      returned === undefined ? [] : [...keysIn(operation), ...listedIn(returned.result)],
    ),
  );
  const nobodys = new Set<string>();
  return calls.flatMap((call) => {
    const { operation } = call;
    if (!("key" in operation) || known.has(operation.key)) return [call];
    if (operation.kind !== "reserve" || nobodys.has(operation.key)) return [];
    nobodys.add(operation.key);
    return [{ ...call, operation: { ...operation, key: anonymousKey(nobodys.size) } }];
  });
}

function keysIn(operation: ProviderOperation): readonly string[] {
  return "key" in operation ? [operation.key] : [];
}

function listedIn(result: ProviderResult): readonly string[] {
  return result.kind === "queue" ? result.keys : [];
}

function describe({ operation, returned }: ProviderCall): string {
  const { kind, ...about } = operation;
  const answer = returned === undefined ? "no answer" : textOf(returned.result);
  return `${[kind, ...Object.values(about)].join(" ")} -> ${answer}`;
}
