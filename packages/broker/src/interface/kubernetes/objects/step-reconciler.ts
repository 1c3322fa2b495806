import { toFault } from "@resource-broker/base";
import type { ReconcileResult } from "@resource-broker/kube";
import type { AssumeCache } from "./assume-cache.ts";

/** Requeue delay if the same step is planned twice in one reconcile: it had no effect yet. */
const RETRY_MS = 1000;

type Done = ReconcileResult & { readonly kind: "done" };

export interface StepReconcilerOptions<T, Work> {
  readonly cache: AssumeCache<T>;
  /** A replica that was replaced takes no further step. */
  readonly isLeading: () => boolean;
  readonly plan: (object: T, key: string) => Work | Done;
  readonly nameOf: (step: Work) => string;
  /** Returns false if no further step should follow. */
  readonly perform: (object: T, step: Work) => Promise<boolean>;
}

/** Reconciles one object in steps. Each step is planned from the current state. */
export function stepReconciler<T, Work extends { readonly kind: string }>(
  parts: StepReconcilerOptions<T, Work>,
): (key: string) => Promise<ReconcileResult> {
  const { cache, isLeading, plan, nameOf, perform } = parts;

  const runSteps = async (key: string): Promise<ReconcileResult> => {
    const done = new Set<string>();
    for (let object = cache.get(key); object !== undefined && isLeading(); object = cache.get(key)) {
      const step = plan(object, key);
      if (isDone(step)) return step;
      const name = nameOf(step);
      if (done.has(name)) return { requeueAfterMs: RETRY_MS };
      done.add(name);
      if (!(await perform(object, step))) break;
    }
    return {};
  };

  return async (key) => {
    try {
      return await runSteps(key);
    } catch (error) {
      if (toFault(error).code !== "not-found") throw error;
      // The object was deleted: the watch event follows.
      cache.forget(key);
      return {};
    }
  };
}

function isDone(step: { readonly kind: string }): step is Done {
  return step.kind === "done";
}
