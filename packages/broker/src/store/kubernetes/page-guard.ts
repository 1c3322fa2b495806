import { CONFIG_MAPS, type ConfigMap, type FollowDeps, type Follower, follow } from "@resource-broker/kube";
import { LEDGER_LABEL } from "./page.ts";

export interface PageGuardOptions {
  readonly namespace: string;
  /** The pages that should be there now. One may have come and gone while nobody watched. */
  readonly pages: () => readonly string[];
  readonly onRemoved: (name: string) => void;
}

/**
 * Notices when somebody deletes a page of the ledger: as long as the leader lives it knows everything and can write it
 * again; the next leader could not.
 */
export function guardPages({ namespace, pages, onRemoved }: PageGuardOptions, deps: FollowDeps): Follower {
  let known = new Set(pages());
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
      const gone = [...new Set([...known, ...pages()])].filter((name) => !listed.has(name));
      known = listed;
      for (const name of gone) onRemoved(name);
    },
  };
  const options = { resource: CONFIG_MAPS, namespace, labelSelector: `${LEDGER_LABEL}=page`, pageSize: 50 };
  return follow(options, sink, deps);
}
