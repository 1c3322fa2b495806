import { type ReconcileResult, toFault } from "@resource-broker/kube";
import type { NewestObjects } from "./newest-objects.ts";

/** Requeue delay if the same step is planned twice in one reconcile: it had no effect yet. */
const AGAIN_MS = 1000;

type Rest = ReconcileResult & { readonly kind: "rest" };

export interface StepByStep<T, Work> {
  readonly newest: NewestObjects<T>;
  /** A replica that was replaced takes no further step. */
  readonly isLeading: () => boolean;
  readonly plan: (object: T, key: string) => Work | Rest;
  readonly nameOf: (step: Work) => string;
  /** Returns false if no further step should follow. */
  readonly perform: (object: T, step: Work) => Promise<boolean>;
}

/** Reconciles one object in steps. Each step is planned from the current state. */
export function stepByStep<T, Work extends { readonly kind: string }>(
  parts: StepByStep<T, Work>,
): (key: string) => Promise<ReconcileResult> {
  const { newest, isLeading, plan, nameOf, perform } = parts;

  const settle = async (key: string): Promise<ReconcileResult> => {
    const done = new Set<string>();
    for (let object = newest.get(key); object !== undefined && isLeading(); object = newest.get(key)) {
      const step = plan(object, key);
      if (isRest(step)) return step;
      const name = nameOf(step);
      if (done.has(name)) return { requeueAfterMs: AGAIN_MS };
      done.add(name);
      if (!(await perform(object, step))) break;
    }
    return {};
  };

  return async (key) => {
    try {
      return await settle(key);
    } catch (error) {
      if (toFault(error).code !== "not-found") throw error;
      // The object was deleted: the watch event follows.
      newest.forget(key);
      return {};
    }
  };
}

function isRest(step: { readonly kind: string }): step is Rest {
  return step.kind === "rest";
}
