import { CONFIG_MAPS, type ConfigMap, type KubeClient } from "@resource-broker/kube";
import { isCode, writeEnd } from "./failure.ts";
import type { Patiently } from "./patience.ts";

const TRIES = 3;

export interface SoftObjectDeps {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly patiently: Patiently;
}

/**
 * Creates or updates an object. `known` is its last known version; undefined if it does not exist. After a conflict, `next` is
 * called again with the current object. Returns the written object.
 */
export async function putObject(
  known: ConfigMap | undefined,
  next: (there: ConfigMap | undefined) => Promise<ConfigMap>,
  { client, namespace, patiently }: SoftObjectDeps,
): Promise<ConfigMap> {
  let there = known;
  for (let left = TRIES; ; left--) {
    const object = await next(there);
    try {
      return await patiently((signal) =>
        there === undefined
          ? client.create(CONFIG_MAPS, object, { signal })
          : client.update(
              CONFIG_MAPS,
              { ...object, metadata: { ...there.metadata, ...object.metadata } },
              { signal },
            ),
      );
    } catch (error) {
      const hasNoNamespace = there === undefined && isCode(error, "not-found");
      if (left === 1 || writeEnd(error) !== "overtaken" || hasNoNamespace) throw error;
      const { name } = object.metadata;
      there = await patiently((signal) => client.find(CONFIG_MAPS, { name, namespace }, { signal }));
    }
  }
}
