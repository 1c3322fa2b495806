import { CONFIG_MAPS, type KubeClient } from "@resource-broker/kube";
import { isCode, kubernetesFailure } from "./failure.ts";
import { inPages, linesIn, pageName, type PageId, pageObject, type PageSort } from "./page.ts";
import type { Patiently } from "./patience.ts";

/** Removed at a time: nobody waits for it. */
const REMOVED_TOGETHER = 4;

export interface PagesDeps {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly patiently: Patiently;
  readonly epoch: number;
}

/** The pages of the ledger, as the leader of this epoch makes and removes them. */
export interface LedgerPages {
  /** Creates one segment. It is unused until the manifest names it. */
  readonly create: (sort: PageSort, lines: readonly string[]) => Promise<PageId>;
  /** As many pages as the lines need. */
  readonly createAll: (sort: PageSort, lines: Iterable<string>) => Promise<PageId[]>;
  /** The lines of one page; undefined: it is gone. */
  readonly read: (sort: PageSort, page: PageId) => Promise<string[] | undefined>;
  readonly remove: (names: readonly string[]) => Promise<void>;
}

export function ledgerPages({ client, namespace, patiently, epoch }: PagesDeps): LedgerPages {
  /** A number is never used twice: a failed attempt may have created a segment of that name. */
  const numbers: Record<PageSort, number> = { snapshot: 0, log: 0, audit: 0 };

  const create: LedgerPages["create"] = async (sort, lines) => {
    const page = { epoch, number: ++numbers[sort] };
    const object = await pageObject({ namespace, name: pageName(sort, page), role: "page", lines });
    try {
      await patiently((signal) => client.create(CONFIG_MAPS, object, { signal }));
    } catch (error) {
      throw kubernetesFailure(error);
    }
    return page;
  };

  const removeOne = async (name: string): Promise<void> => {
    try {
      await patiently((signal) => client.delete(CONFIG_MAPS, { name, namespace }, { signal }));
    } catch (error) {
      if (!isCode(error, "not-found")) throw error;
    }
  };

  return {
    create,
    createAll: async (sort, lines) => {
      const pages: PageId[] = [];
      for (const some of inPages(lines)) pages.push(await create(sort, some));
      return pages;
    },
    read: async (sort, page) => {
      const name = pageName(sort, page);
      const found = await patiently((signal) => client.find(CONFIG_MAPS, { name, namespace }, { signal }));
      return found && linesIn(found);
    },
    remove: async (names) => {
      for (let from = 0; from < names.length; from += REMOVED_TOGETHER)
        await Promise.all(names.slice(from, from + REMOVED_TOGETHER).map(removeOne));
    },
  };
}
