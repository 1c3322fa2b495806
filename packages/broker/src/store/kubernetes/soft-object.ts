import { type Clock, Fault } from "@resource-broker/base";
import { CONFIG_MAPS, type ConfigMap, type KubeClient } from "@resource-broker/kube";
import { isCode, writeFailureKind } from "./failure.ts";

const TRIES = 3;

export interface SoftObjectDeps {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly withTimeout: WithTimeout;
}

/**
 * Creates or updates an object. `known` is its last known version; undefined if it does not exist. After a conflict, `next` is
 * called again with the current object. Returns the written object.
 */
export async function putObject(
  known: ConfigMap | undefined,
  next: (current: ConfigMap | undefined) => Promise<ConfigMap>,
  { client, namespace, withTimeout }: SoftObjectDeps,
): Promise<ConfigMap> {
  let current = known;
  for (let left = TRIES; ; left--) {
    const object = await next(current);
    try {
      return await withTimeout((signal) =>
        current === undefined
          ? client.create(CONFIG_MAPS, object, { signal })
          : client.update(
              CONFIG_MAPS,
              { ...object, metadata: { ...current.metadata, ...object.metadata } },
              { signal },
            ),
      );
    } catch (error) {
      const hasNoNamespace = current === undefined && isCode(error, "not-found");
      if (left === 1 || writeFailureKind(error) !== "conflict" || hasNoNamespace) throw error;
      const { name } = object.metadata;
      current = await withTimeout((signal) => client.find(CONFIG_MAPS, { name, namespace }, { signal }));
    }
  }
}

/** Makes a call with a time limit. */
export type WithTimeout = <T>(call: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** A leader must know within its lease whether it can write; the client's own timeout is much longer. */
export function callTimeout(clock: Clock, limitMs: number): WithTimeout {
  return async (call) => {
    const timeout = new AbortController();
    const cancel = clock.after(limitMs, () =>
      timeout.abort(
        new Fault(
          "unreachable",
          `the API server gave no answer in ${Math.round(limitMs)} ms: is it overloaded?`,
        ),
      ),
    );
    try {
      return await call(timeout.signal);
    } finally {
      cancel();
    }
  };
}
