export type Encoding = "protobuf" | "json";

/** How large the imagined cluster is. */
export interface ClusterSize {
  readonly nodes: number;
  readonly pods: number;
}

/** Versions of the objects as first listed; what changes later is newer. */
export const FIRST_VERSION = 1_000_000;
