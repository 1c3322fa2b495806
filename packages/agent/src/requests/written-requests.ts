import type { ResourceRequest } from "@resource-broker/contract";

/** A watch lags behind writes: until it catches up, the written object counts. */
export interface WrittenRequests {
  /** The newest version of an object that was last seen like this. */
  readonly newest: (key: string, seen: ResourceRequest | undefined) => ResourceRequest | undefined;
  readonly wrote: (key: string, before: ResourceRequest, after: ResourceRequest) => void;
}

export function writtenRequests(): WrittenRequests {
  const entries = new Map<string, { readonly object: ResourceRequest; readonly older: Set<string> }>();
  return {
    newest: (key, seen) => {
      const entry = entries.get(key);
      if (entry === undefined) return seen;
      if (seen !== undefined && entry.older.has(versionOf(seen))) return entry.object;
      entries.delete(key);
      return seen;
    },
    wrote: (key, before, after) => {
      const older = entries.get(key)?.older ?? new Set<string>();
      entries.set(key, { object: after, older: older.add(versionOf(before)) });
    },
  };
}

/** Versions are compared for equality only, as Kubernetes requires; a new object of the same name has another UID. */
function versionOf({ metadata }: ResourceRequest): string {
  return `${metadata.uid} ${metadata.resourceVersion}`;
}
