import type { Decision, DecisionId } from "@resource-broker/domain";
import type { ConfigMap } from "@resource-broker/kube";
import type { Clock } from "@resource-broker/runtime";
import { decodeDecision, encodeDecision } from "../sqlite/decision-codec.ts";
import type { Keep } from "../sqlite/retention.ts";
import { type KeyedWriter, keyedWriter } from "./keyed-writer.ts";
import { linesIn, pageIdIn, pageName, pageObject, type PageId } from "./page.ts";
import type { LedgerPages } from "./pages.ts";
import type { LedgerShelf } from "./read-ledger.ts";
import { putObject, type SoftObjectDeps } from "./soft-object.ts";

const PAGE_DECISIONS = 100;
/** Limit of segments, however small they are: each leader starts a new segment. */
const MOST_PAGES = 400;
const PAUSE_MS = 1000;

export interface DecisionShelfDeps extends SoftObjectDeps {
  readonly clock: Clock;
  readonly epoch: number;
  readonly keep: Keep;
  readonly pages: Pick<LedgerPages, "remove">;
  readonly onTrouble: (error: unknown) => void;
}

/** Decisions, so that they can be explained; the newest ones, written behind. */
export interface DecisionShelf extends Pick<KeyedWriter<Page>, "finish" | "stop"> {
  readonly put: (decisions: readonly Decision[]) => void;
  readonly find: (id: DecisionId) => Decision | undefined;
}

/** Decisions stay encoded in memory: they are rarely read. */
interface Page {
  readonly name: string;
  readonly lines: Map<DecisionId, string>;
  object: ConfigMap | undefined;
  lastAt: number;
}

export function decisionShelf(found: LedgerShelf, deps: DecisionShelfDeps): DecisionShelf {
  let pages = pagesOn(found);
  let number = 0;
  let current: Page | undefined;

  const write = async (page: Page): Promise<void> => {
    const { name, lines } = page;
    const next = (): Promise<ConfigMap> =>
      pageObject({ namespace: deps.namespace, name, role: "soft", lines: [...lines.values()] });
    page.object = await putObject(page.object, next, deps);
    await trim();
  };

  const open = (): Page => {
    if (current !== undefined && current.lines.size < PAGE_DECISIONS) return current;
    const name = pageName("decisions", { epoch: deps.epoch, number: ++number });
    current = { name, lines: new Map(), object: undefined, lastAt: 0 };
    pages.push(current);
    return current;
  };

  /** Whole pages, the oldest first. */
  const trim = async (): Promise<void> => {
    const now = current?.lastAt ?? 0;
    let kept = pages.reduce((count, { lines }) => count + lines.size, 0);
    const isDue = (page: Page, index: number): boolean =>
      kept - page.lines.size >= deps.keep.atMost ||
      pages.length - index > MOST_PAGES ||
      page.lastAt < now - deps.keep.forMs;
    const due = [];
    for (const [index, page] of pages.entries()) {
      if (page === current || !isDue(page, index)) break;
      due.push(page);
      kept -= page.lines.size;
    }
    if (due.length === 0) return;
    pages = pages.slice(due.length);
    await deps.pages.remove(due.map(({ name }) => name));
  };

  const writer = keyedWriter<Page>({ write, pauseMs: PAUSE_MS, ...deps });
  return {
    put: (decisions) => {
      for (const decision of decisions) {
        const page = open();
        page.lines.set(decision.id, lineOf(decision));
        page.lastAt = decision.at;
        writer.mark(page);
      }
    },
    find: (id) => {
      const line = pages.findLast(({ lines }) => lines.has(id))?.lines.get(id);
      return line === undefined ? undefined : decisionIn(line);
    },
    finish: writer.finish,
    stop: writer.stop,
  };
}

function pagesOn(shelf: LedgerShelf): Page[] {
  const found = [...shelf.values()].flatMap((object) => {
    const id = pageIdIn("decisions", object.metadata.name);
    return id === undefined ? [] : [{ id, page: pageFrom(object) }];
  });
  return found.sort((a, b) => inOrder(a.id, b.id)).map(({ page }) => page);
}

function inOrder(a: PageId, b: PageId): number {
  return a.epoch - b.epoch || a.number - b.number;
}

function pageFrom(object: ConfigMap): Page {
  const { name } = object.metadata;
  const lines = linesOf(object).map((line): [DecisionId, string] => [line.split(" ", 1)[0] ?? "", line]);
  const lastAt = Number(lines.at(-1)?.[1].split(" ", 2)[1] ?? 0);
  return { name, lines: new Map(lines), object, lastAt };
}

/** An unreadable segment is ignored. */
function linesOf(object: ConfigMap): string[] {
  try {
    return linesIn(object);
  } catch {
    return [];
  }
}

/** Its id and time in front, so that a page can be put in order without reading it all. */
function lineOf(decision: Decision): string {
  return `${decision.id} ${decision.at} ${Buffer.from(encodeDecision(decision)).toString("base64")}`;
}

function decisionIn(line: string): Decision {
  const [, , encoded = ""] = line.split(" ", 3);
  return decodeDecision(Buffer.from(encoded, "base64"));
}
