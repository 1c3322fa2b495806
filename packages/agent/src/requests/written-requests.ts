import type { ResourceRequest } from "@resource-broker/contract";

/** A watch lags behind writes: until it catches up, the written object counts. */
export interface OwnWrites {
  /** The newest version of an object that was last seen like this. */
  readonly latest: (key: string, seen: ResourceRequest | undefined) => ResourceRequest | undefined;
  readonly record: (key: string, before: ResourceRequest, after: ResourceRequest) => void;
}

export function createOwnWrites(): OwnWrites {
  const entries = new Map<string, { readonly object: ResourceRequest; readonly older: Set<string> }>();
  return {
    latest: (key, seen) => {
      const entry = entries.get(key);
      if (entry === undefined) return seen;
      if (seen !== undefined && entry.older.has(versionOf(seen))) return entry.object;
      entries.delete(key);
      return seen;
    },
    record: (key, before, after) => {
      const older = entries.get(key)?.older ?? new Set<string>();
      entries.set(key, { object: after, older: older.add(versionOf(before)) });
    },
  };
}

/** Versions are compared for equality only, as Kubernetes requires; a new object of the same name has another UID. */
function versionOf({ metadata }: ResourceRequest): string {
  return `${metadata.uid} ${metadata.resourceVersion}`;
}
