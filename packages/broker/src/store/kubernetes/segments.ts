import { promisify } from "node:util";
import { gunzipSync, gzip } from "node:zlib";
import {
  CONFIG_MAPS,
  type ConfigMap,
  type Reflector,
  reflector,
  type ReflectorDeps,
} from "@resource-broker/kube";
import { StoreFailure } from "../store.ts";
import { isCode, kubernetesFailure, type LedgerAccess } from "./ledger-client.ts";

/** The name of the manifest. The names of all other objects of the ledger begin with it. */
export const LEDGER = "resource-broker-ledger";

/** Every object of the ledger has this label, so that one selector finds them all, for example for a backup. */
export const LEDGER_LABEL = "broker.fluidos.eu/ledger";

/** Values of the label. `page`: an immutable segment that the manifest names. `soft`: data that may be lost. */
type Role = "head" | "page" | "soft";

export type SegmentKind = "snapshot" | "log" | "audit";
type SoftKind = "decisions" | "advertisements";

/** One process leads in an epoch, so two processes never write the same segment. */
export interface SegmentId {
  readonly epoch: number;
  readonly number: number;
}

/** Size of a segment before compression. The API server accepts objects of up to a megabyte. */
const SEGMENT_BYTES = 256 * 1024;

const CONTENT = "lines.gz";
const compress = promisify(gzip);

export function segmentName(kind: SegmentKind | SoftKind, { epoch, number }: SegmentId): string {
  return `${LEDGER}-${kind}-${epoch}-${number}`;
}

/** Undefined: it is no segment of this kind. */
export function parseSegmentName(kind: SegmentKind | SoftKind, name: string): SegmentId | undefined {
  const [, epoch, number] = new RegExp(`^${LEDGER}-${kind}-(\\d+)-(\\d+)$`).exec(name) ?? [];
  return epoch === undefined ? undefined : { epoch: Number(epoch), number: Number(number) };
}

interface SegmentContent {
  readonly namespace: string;
  readonly name: string;
  readonly role: Exclude<Role, "head">;
  readonly lines: readonly string[];
}

export async function segmentConfigMap({ namespace, name, role, lines }: SegmentContent): Promise<ConfigMap> {
  const compressed = await compress(lines.join("\n"));
  return {
    metadata: { name, namespace, labels: { [LEDGER_LABEL]: role } },
    binaryData: { [CONTENT]: compressed.toString("base64") },
    ...(role === "page" ? { immutable: true } : {}),
  };
}

/** gzip data has a checksum: a damaged segment cannot be read. */
export function linesIn({ metadata: { name }, binaryData }: ConfigMap): string[] {
  const compressed = binaryData?.[CONTENT];
  try {
    const text = gunzipSync(Buffer.from(compressed ?? "", "base64")).toString("utf8");
    return text === "" ? [] : text.split("\n");
  } catch (error) {
    throw new StoreFailure("corrupt", `ConfigMap ${name} is damaged; restore it from a backup`, {
      cause: error,
    });
  }
}

/** Splits lines so that each part fits into a segment. */
function splitIntoSegments(lines: Iterable<string>): string[][] {
  const segments: string[][] = [];
  let left = 0;
  for (const line of lines) {
    if (line.length > left) {
      segments.push([]);
      left = SEGMENT_BYTES;
    }
    segments.at(-1)?.push(line);
    left -= line.length + 1;
  }
  return segments;
}

export function bytesOf(lines: readonly string[]): number {
  return lines.reduce((bytes, line) => bytes + line.length + 1, 0);
}

/** Consecutive segments of one epoch: `[epoch, first, last]`. A few ranges describe thousands of segments. */
export type SegmentRange = readonly [epoch: number, first: number, last: number];

export function addSegments(ranges: readonly SegmentRange[], added: readonly SegmentId[]): SegmentRange[] {
  const all = [...ranges];
  for (const { epoch, number } of added) {
    const last = all.at(-1);
    if (last !== undefined && last[0] === epoch && last[2] === number - 1)
      all[all.length - 1] = [epoch, last[1], number];
    else all.push([epoch, number, number]);
  }
  return all;
}

export function segmentsIn(ranges: readonly SegmentRange[]): SegmentId[] {
  return ranges.flatMap(([epoch, first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => ({ epoch, number: first + index })),
  );
}

export function segmentCount(ranges: readonly SegmentRange[]): number {
  return ranges.reduce((count, [, first, last]) => count + last - first + 1, 0);
}

/** The ranges without their first segments. */
export function dropFirst(ranges: readonly SegmentRange[], count: number): SegmentRange[] {
  return addSegments([], segmentsIn(ranges).slice(count));
}

/** Segments that are removed at the same time. No caller waits for it. */
const DELETE_BATCH = 4;

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

export function ledgerSegments({ client, namespace }: LedgerAccess, epoch: number): LedgerSegments {
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
      await client.create(CONFIG_MAPS, object);
    } catch (error) {
      throw kubernetesFailure(error);
    }
    return segment;
  };

  const removeOne = async (name: string): Promise<void> => {
    try {
      await client.delete(CONFIG_MAPS, { name, namespace });
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
      const found = await client.find(CONFIG_MAPS, { name: segmentName(kind, segment), namespace });
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
