import { promisify } from "node:util";
import { gunzipSync, gzip } from "node:zlib";
import type { ConfigMap } from "@resource-broker/kube";
import { StoreFailure } from "../store.ts";

/** The name of the manifest. The names of all other objects of the ledger begin with it. */
export const LEDGER = "resource-broker-ledger";

/** Every object of the ledger has this label, so that one selector finds them all, for example for a backup. */
export const LEDGER_LABEL = "broker.fluidos.eu/ledger";

/** Values of the label. `page`: an immutable segment that the manifest names. `soft`: data that may be lost. */
export type Role = "head" | "page" | "soft";

export type SegmentKind = "snapshot" | "log" | "audit";
export type SoftKind = "decisions" | "advertisements";

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

export interface SegmentContent {
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
export function splitIntoSegments(lines: Iterable<string>): string[][] {
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
