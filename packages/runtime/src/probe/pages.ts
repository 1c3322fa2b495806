import { Fault, type FaultCode, PATH, safeJson, toErrorBody } from "@resource-broker/contract";
import { exclusionProblem, type ReadinessCheck, readinessReport } from "./readiness.ts";

const TEXT = "text/plain; charset=utf-8";

/** Pages of a port: health and metrics may use separate ports. */
export type PageGroup = "health" | "metrics";

/** Metrics in the Prometheus text format. */
export interface MetricsSource {
  readonly scrape: () => Promise<string>;
  readonly contentType: string;
}

export interface PageDeps {
  readonly groups: readonly PageGroup[];
  readonly checks: readonly ReadinessCheck[];
  readonly metrics: MetricsSource;
  /** The description of an API; absent: the program has none. */
  readonly openApi?: string;
}

export interface Page {
  readonly status: number;
  readonly type: string;
  readonly content: string;
}

type Pages = ReadonlyMap<string, (query: URLSearchParams) => Page | Promise<Page>>;

export function pagesOf({ groups, checks, metrics, openApi }: PageDeps): Pages {
  const pages = new Map<string, (query: URLSearchParams) => Page | Promise<Page>>();
  if (openApi !== undefined) {
    pages.set(PATH.openapi, () => ({ status: 200, type: "application/json", content: openApi }));
  }
  if (groups.includes("health")) {
    pages.set(PATH.health, () => ({ status: 200, type: TEXT, content: "ok" }));
    pages.set(PATH.readiness, (query) => readinessPage(checks, query));
  }
  if (groups.includes("metrics")) {
    const { contentType } = metrics;
    pages.set(PATH.metrics, async () => ({
      status: 200,
      type: contentType,
      content: await metrics.scrape(),
    }));
  }
  return pages;
}

/** An unknown name in `exclude` is refused, so that a misspelled probe fails at once. */
function readinessPage(checks: readonly ReadinessCheck[], query: URLSearchParams): Page {
  const excluded = query.getAll("exclude");
  const problem = exclusionProblem(checks, excluded);
  if (problem !== undefined) return faultPage("invalid", problem);
  const { isReady, content } = readinessReport(checks, { isVerbose: query.has("verbose"), excluded });
  return { status: isReady ? 200 : 503, type: TEXT, content };
}

export function faultPage(code: FaultCode, message: string): Page {
  const fault = new Fault(code, message);
  const content = safeJson(JSON.stringify(toErrorBody(fault)));
  return { status: fault.status, type: "application/json", content };
}
