import { type ClusterAdvertisement, parseTime } from "@resource-broker/contract";
import type { Advertisement, Instant } from "@resource-broker/domain";

/** Identifies an advertisement of a cluster: equal versions are the same advertisement. */
export interface AdvertisementVersion {
  readonly statedAt: Instant | undefined;
  readonly instance: string | undefined;
  readonly sequence: number | undefined;
}

type Versioned = Pick<ClusterAdvertisement["spec"], "timestamp" | "instance" | "sequence">;

export function versionOf({ timestamp, instance, sequence }: Versioned): AdvertisementVersion {
  return { statedAt: parseTime(timestamp), instance, sequence };
}

export function ledgerVersion({ statedAt, instance, sequence }: Advertisement): AdvertisementVersion {
  return { statedAt, instance, sequence };
}

export function isSameVersion(a: AdvertisementVersion, b: AdvertisementVersion | undefined): boolean {
  return (
    b !== undefined && a.statedAt === b.statedAt && a.instance === b.instance && a.sequence === b.sequence
  );
}
