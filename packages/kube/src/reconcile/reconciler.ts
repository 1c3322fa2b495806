import {
  type Reconciler,
  type ReconcileLoopOptions,
  type ReconcilerDeps,
  type ReconcileResult,
  reconcileLoop,
} from "./reconcile-loop.ts";

/** What is to be done about a state, and when to look again. */
export interface Plan<Action> extends ReconcileResult {
  readonly actions: readonly Action[];
}

export interface ReconcilerOptions<State, Action> extends Omit<ReconcileLoopOptions, "reconcile"> {
  /** Reads the current state; events only say which key to reconcile. */
  readonly observe: (key: string) => State | Promise<State>;
  /** Pure. */
  readonly plan: (state: State) => Plan<Action>;
  /** One after the other, in the plan's order; the first that fails ends the round. */
  readonly apply: (action: Action, key: string) => void | Promise<void>;
}

/** Observes, plans and applies, key by key. */
export function reconciler<State, Action>(
  { observe, plan, apply, ...options }: ReconcilerOptions<State, Action>,
  deps: ReconcilerDeps,
): Reconciler {
  const reconcile = async (key: string): Promise<ReconcileResult> => {
    const planned = plan(await observe(key));
    for (const action of planned.actions) await apply(action, key);
    return planned;
  };
  return reconcileLoop({ ...options, reconcile }, deps);
}
