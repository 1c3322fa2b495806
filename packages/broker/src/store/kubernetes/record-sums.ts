import { crc32 } from "node:zlib";
import { parseStored } from "../common/stored-json.ts";
import { type TableSum, withoutRow, withRow } from "../common/table-sums.ts";
import type { Content } from "./ledger-manifest.ts";
import { type Change, keyName } from "./records.ts";

/**
 * Computes the sum that the records of all segments must have. A missing segment is found by its name; only the sum
 * detects a segment that was replaced by one with other lines or by an older one.
 */
export interface RecordSums {
  /** The sum once these lines were read after all that came before. */
  readonly after: (lines: readonly string[]) => TableSum;
  readonly read: (lines: readonly string[]) => void;
  readonly sum: () => TableSum;
}

interface Counted {
  readonly name: string;
  /** Undefined: the record was removed. */
  readonly seal: number | undefined;
}

export function recordSums(): RecordSums {
  const seals = new Map<string, number>();
  let sum: TableSum = [0, 0];

  /** Goes through the lines; `found` has what the earlier ones of them have changed. */
  const go = (lines: readonly string[], found: Map<string, number | undefined>): TableSum => {
    let next = sum;
    for (const { name, seal } of lines.flatMap(counted)) {
      const before = found.has(name) ? found.get(name) : seals.get(name);
      if (before !== undefined) next = withoutRow(next, before);
      if (seal !== undefined) next = withRow(next, seal);
      found.set(name, seal);
    }
    return next;
  };

  return {
    after: (lines) => go(lines, new Map()),
    read: (lines) => {
      const found = new Map<string, number | undefined>();
      sum = go(lines, found);
      for (const [name, seal] of found) {
        if (seal === undefined) seals.delete(name);
        else seals.set(name, seal);
      }
    },
    sum: () => sum,
  };
}

/** The content with the sum of its records as of its commit. */
export function withSum(content: Content, records: TableSum): Content {
  const { manifest } = content;
  return { ...content, manifest: { ...manifest, sum: { commit: manifest.commitNumber, records } } };
}

/** Undefined: an older broker made the last commit, and counted nothing. */
export function sumOf({ manifest: { sum, commitNumber } }: Content): TableSum | undefined {
  return sum?.commit === commitNumber ? sum.records : undefined;
}

/** What a line says of which record. Other lines are of soft state, and are not counted. */
function counted(line: string): Counted[] {
  const change = parseStored<Change>(line);
  const seal = crc32(line);
  switch (change[0]) {
    case "reservation":
      return [{ name: `reservation ${change[1].id}`, seal }];
    case "forgotten":
      return [{ name: `reservation ${change[1]}`, seal: undefined }];
    case "closed-key":
      return [{ name: `key ${keyName(change[1].requester, change[1].key)}`, seal }];
    case "reopened-key":
      return [{ name: `key ${keyName(change[1], change[2])}`, seal: undefined }];
    case "cordon":
      return [{ name: `cordon ${change[1]}`, seal }];
    case "uncordon":
      return [{ name: `cordon ${change[1]}`, seal: undefined }];
    case "adoption":
      return [{ name: "adoption", seal }];
    default:
      return [];
  }
}
