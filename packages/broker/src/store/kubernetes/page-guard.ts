import {
  CONFIG_MAPS,
  type ConfigMap,
  type ReflectorDeps,
  type Reflector,
  reflector,
} from "@resource-broker/kube";
import { LEDGER_LABEL } from "./page.ts";

export interface SegmentWatchOptions {
  readonly namespace: string;
  /** The segments that must exist now. */
  readonly segments: () => readonly string[];
  readonly onRemoved: (name: string) => void;
}

/**
 * Watches for deleted segments. The current leader has all records in memory and can write them again; the next leader
 * could not.
 */
export function watchSegments(
  { namespace, segments, onRemoved }: SegmentWatchOptions,
  deps: ReflectorDeps,
): Reflector {
  let known = new Set(segments());
  let listed = new Set<string>();
  const sink = {
    beginList: () => {
      listed = new Set();
    },
    put: ({ metadata: { name } }: ConfigMap) => {
      listed.add(name);
      known.add(name);
    },
    remove: ({ metadata: { name } }: ConfigMap) => {
      known.delete(name);
      onRemoved(name);
    },
    endList: () => {
      const gone = [...new Set([...known, ...segments()])].filter((name) => !listed.has(name));
      known = listed;
      for (const name of gone) onRemoved(name);
    },
  };
  const options = { resource: CONFIG_MAPS, namespace, labelSelector: `${LEDGER_LABEL}=page`, pageSize: 50 };
  return reflector(options, sink, deps);
}
