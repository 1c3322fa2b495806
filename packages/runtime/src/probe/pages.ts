import { Fault, type FaultCode, faultBody, PROBE_PATH, safeJson, safeLine } from "@resource-broker/base";

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
    pages.set(PROBE_PATH.openapi, () => ({ status: 200, type: "application/json", content: openApi }));
  }
  if (groups.includes("health")) {
    pages.set(PROBE_PATH.health, () => ({ status: 200, type: TEXT, content: "ok" }));
    pages.set(PROBE_PATH.readiness, (query) => readinessPage(checks, query));
  }
  if (groups.includes("metrics")) {
    const { contentType } = metrics;
    pages.set(PROBE_PATH.metrics, async () => ({
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
  const content = safeJson(JSON.stringify(faultBody(fault)));
  return { status: fault.status, type: "application/json", content };
}

/** A readiness check; advisory checks are only shown. */
export interface ReadinessCheck {
  /** Name for `?exclude=<name>`. */
  readonly name: string;
  /** True: a problem is shown with `?verbose`, and the program stays ready. */
  readonly isAdvisory?: boolean;
  /** What is wrong; undefined: nothing. */
  readonly problem: () => string | undefined;
}

interface ReadinessOptions {
  /** Names every check, not only those that fail. */
  readonly isVerbose: boolean;
  /** Names of checks that do not count. */
  readonly excluded: readonly string[];
}

interface ReadinessReport {
  readonly isReady: boolean;
  readonly content: string;
}

/** `ok`, or what is wrong. */
function readinessReport(
  checks: readonly ReadinessCheck[],
  { isVerbose, excluded }: ReadinessOptions,
): ReadinessReport {
  const results = checks.map(({ name, problem, isAdvisory = false }) => {
    const isExcluded = excluded.includes(name);
    return { name, isAdvisory, isExcluded, problem: isExcluded ? undefined : problem() };
  });
  const failed = results.filter(({ problem, isAdvisory }) => problem !== undefined && !isAdvisory);
  const isReady = failed.length === 0;
  const shown = isVerbose ? results : failed;
  const lines = shown.map(({ name, isAdvisory, isExcluded, problem }) =>
    problem === undefined
      ? `[+] ${name} ${isExcluded ? "excluded" : "ok"}`
      : `[${isAdvisory ? "!" : "-"}] ${name}: ${safeLine(problem)}`,
  );
  return { isReady, content: [...lines, isReady ? "ok" : "not ready"].join("\n") };
}

/** What is wrong with the names of checks that a caller leaves out; undefined: nothing. */
function exclusionProblem(
  checks: readonly ReadinessCheck[],
  excluded: readonly string[],
): string | undefined {
  const names = checks.map(({ name }) => name);
  const unknown = excluded.filter((name) => !names.includes(name));
  if (unknown.length === 0) return undefined;
  return `exclude: there is no check ${unknown.map((name) => JSON.stringify(name)).join(", ")}; there are ${names.join(", ")}`;
}
