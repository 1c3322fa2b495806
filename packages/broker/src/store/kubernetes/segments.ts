import {
  CONFIG_MAPS,
  type ConfigMap,
  type KubeClient,
  type Reflector,
  type ReflectorDeps,
  reflector,
} from "@resource-broker/kube";
import { isCode, kubernetesFailure } from "./failure.ts";
import {
  LEDGER_LABEL,
  linesIn,
  type SegmentId,
  type SegmentKind,
  segmentConfigMap,
  segmentName,
  splitIntoSegments,
} from "./segment.ts";
import type { WithTimeout } from "./soft-object.ts";

/** Segments that are removed at the same time. No caller waits for it. */
const DELETE_BATCH = 4;

export interface SegmentsDeps {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly withTimeout: WithTimeout;
  readonly epoch: number;
}

/** Creates, reads and removes segments as the leader of this epoch. */
export interface LedgerSegments {
  /** Creates one segment. It is unused until the manifest names it. */
  readonly create: (kind: SegmentKind, lines: readonly string[]) => Promise<SegmentId>;
  /** Creates as many segments as the lines need. */
  readonly createAll: (kind: SegmentKind, lines: Iterable<string>) => Promise<SegmentId[]>;
  /** The lines of one segment; undefined: it does not exist. */
  readonly read: (kind: SegmentKind, segment: SegmentId) => Promise<string[] | undefined>;
  readonly remove: (names: readonly string[]) => Promise<void>;
}

export function ledgerSegments({ client, namespace, withTimeout, epoch }: SegmentsDeps): LedgerSegments {
  /** A number is never used twice: a failed attempt may have created a segment of that name. */
  const numbers: Record<SegmentKind, number> = { snapshot: 0, log: 0, audit: 0 };

  const create: LedgerSegments["create"] = async (kind, lines) => {
    const segment = { epoch, number: ++numbers[kind] };
    const object = await segmentConfigMap({
      namespace,
      name: segmentName(kind, segment),
      role: "page",
      lines,
    });
    try {
      await withTimeout((signal) => client.create(CONFIG_MAPS, object, { signal }));
    } catch (error) {
      throw kubernetesFailure(error);
    }
    return segment;
  };

  const removeOne = async (name: string): Promise<void> => {
    try {
      await withTimeout((signal) => client.delete(CONFIG_MAPS, { name, namespace }, { signal }));
    } catch (error) {
      if (!isCode(error, "not-found")) throw error;
    }
  };

  return {
    create,
    createAll: async (kind, lines) => {
      const segments: SegmentId[] = [];
      for (const some of splitIntoSegments(lines)) segments.push(await create(kind, some));
      return segments;
    },
    read: async (kind, segment) => {
      const name = segmentName(kind, segment);
      const found = await withTimeout((signal) => client.find(CONFIG_MAPS, { name, namespace }, { signal }));
      return found && linesIn(found);
    },
    remove: async (names) => {
      for (let from = 0; from < names.length; from += DELETE_BATCH)
        await Promise.all(names.slice(from, from + DELETE_BATCH).map(removeOne));
    },
  };
}

interface SegmentWatchOptions {
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
