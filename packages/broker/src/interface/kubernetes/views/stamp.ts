import { type ClusterAdvertisement, parseTime } from "@resource-broker/contract";
import type { Advertisement, Instant } from "@resource-broker/domain";

/** Identifies an advertisement of a cluster: equal versions are the same advertisement. */
export interface Stamp {
  readonly statedAt: Instant | undefined;
  readonly instance: string | undefined;
  readonly sequence: number | undefined;
}

type Stamped = Pick<ClusterAdvertisement["spec"], "timestamp" | "instance" | "sequence">;

export function stampOf({ timestamp, instance, sequence }: Stamped): Stamp {
  return { statedAt: parseTime(timestamp), instance, sequence };
}

export function ledgerStamp({ statedAt, instance, sequence }: Advertisement): Stamp {
  return { statedAt, instance, sequence };
}

export function isSameStamp(a: Stamp, b: Stamp | undefined): boolean {
  return (
    b !== undefined && a.statedAt === b.statedAt && a.instance === b.instance && a.sequence === b.sequence
  );
}
