import { type RoundEnd, toFault } from "@resource-broker/kube";
import type { NewestObjects } from "./newest-objects.ts";

/** A step that comes up twice in one round has not brought what it should: others may have to do something first. */
const AGAIN_MS = 1000;

type Rest = RoundEnd & { readonly kind: "rest" };

export interface StepByStep<T, Work> {
  readonly newest: NewestObjects<T>;
  /** A replica that was replaced takes no further step. */
  readonly isLeading: () => boolean;
  readonly plan: (object: T, key: string) => Work | Rest;
  readonly nameOf: (step: Work) => string;
  /** False: it brought nothing that a further step could rest on. */
  readonly perform: (object: T, step: Work) => Promise<boolean>;
}

/** A round about one object: step after step, each planned anew from how things are then. */
export function stepByStep<T, Work extends { readonly kind: string }>(
  parts: StepByStep<T, Work>,
): (key: string) => Promise<RoundEnd> {
  const { newest, isLeading, plan, nameOf, perform } = parts;

  const settle = async (key: string): Promise<RoundEnd> => {
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
      // Somebody deleted it for good: the watch tells the rest.
      newest.forget(key);
      return {};
    }
  };
}

function isRest(step: { readonly kind: string }): step is Rest {
  return step.kind === "rest";
}
