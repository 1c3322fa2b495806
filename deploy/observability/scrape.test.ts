import { SECRETS } from "@resource-broker/kube";
import { metricsIn, RESOURCE_REQUESTS, startWorld, until, type World } from "@resource-broker/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { type Matcher, needsOf } from "./testing/promql.ts";
import { QUERIES, read } from "./testing/sources.ts";

/** What Prometheus and its operator add to every sample. */
const TARGET_LABELS = ["job", "instance", "namespace", "pod"];
const REFERENCES = ["docs/reference/metrics.md", "docs/reference/agent-metrics.md"];
const START_TIMEOUT_MS = 600_000;

interface Known {
  readonly type: string;
  readonly labels: readonly string[];
}

let world: World;
/** Everything that a broker and an agent told when they had something to tell. */
let scrape: string;
const known = new Map<string, Known>();

beforeAll(async () => {
  world = await startWorld({
    clusters: [
      { name: "rome", nodes: [{ cpu: "4", memory: "16Gi" }] },
      {
        name: "paris",
        nodes: [{ cpu: "32", memory: "128Gi", gpus: { count: "4", model: "L40S" } }],
        hasAgent: false,
        flags: [
          "--price-cpu=0.03",
          "--price-memory=0.004",
          "--price-currency=EUR",
          "--broker-cert-path=",
          "--identity-secret=identity",
        ],
      },
    ],
  });
  await startJoined("paris");
  await reserveAndRelease();
  scrape = await untilAllReported();
  for (const metric of metricsIn(scrape)) known.set(metric.name, withLabels(metric));
  return world.dispose;
}, START_TIMEOUT_MS);

/** An agent whose certificate is in its own Secret: it renews it, and counts that. */
async function startJoined(name: string): Promise<void> {
  const { cert, key, ca } = world.certificates.cluster(name);
  await world.cluster(name).client.create(SECRETS, {
    metadata: { name: "identity", namespace: "default" },
    stringData: { "tls.crt": cert, "tls.key": key, "ca.crt": ca },
  });
  await (await world.launchAgent(name)).ready();
}

/** One loan that stays, so that something is lent; one that ends; and one that nobody can serve. */
async function reserveAndRelease(): Promise<void> {
  const rome = world.cluster("rome");
  const ask = (name: string, requestedCPU: string) =>
    rome.client.create(RESOURCE_REQUESTS, {
      apiVersion: "rear.fluidos.eu/v1alpha1",
      kind: "ResourceRequest",
      metadata: { name, namespace: "default" },
      spec: { requestedCPU, requestedMemory: "1Gi", ...(name === "kept" ? { requestedGPU: "1" } : {}) },
    });
  await ask("kept", "2");
  await ask("ended", "1");
  await ask("too-much", "500");
  for (const name of ["kept", "ended"])
    await rome.until(
      RESOURCE_REQUESTS,
      name,
      ({ status }) => status?.phase === "Reserved" || status?.phase === "Active",
    );
  await rome.client.delete(RESOURCE_REQUESTS, { name: "ended", namespace: "default" });
}

const untilAllReported = (): Promise<string> =>
  until("figures of everything that happened are there", async () => {
    const pages = await Promise.all([
      page(world.broker.metricsPort),
      world.agent("rome").scrape(),
      world.agent("paris").scrape(),
    ]);
    const text = pages.join("\n");
    const signs = [
      /broker_reservation_ends_total\{/,
      /agent_reserved\{resource="gpu"\} 1/,
      /broker_unmet_demand\{[^}]*\} 1/,
    ];
    return signs.every((sign) => sign.test(text)) ? text : undefined;
  });

async function page(port: number): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}

/** Nothing failed here: the labels of what counts failures are those of the reference, which a scrape is compared with, too. */
function withLabels({ name, type, labels }: Known & { readonly name: string }): Known {
  if (hasSamples(name))
    return { type, labels: [...new Set([...(known.get(name)?.labels ?? []), ...labels])] };
  const row = REFERENCES.map(read)
    .flatMap((text) => text.split("\n"))
    .find((line) => line.startsWith(`| \`${name}\` |`));
  return {
    type,
    labels: [...(row?.split("|")[3]?.matchAll(/`(\w+)`/g) ?? [])].map(([, label = ""]) => label),
  };
}

function hasSamples(name: string): boolean {
  return scrape
    .split("\n")
    .some(
      (line) =>
        line.startsWith(`${name}{`) || line.startsWith(`${name} `) || line.startsWith(`${name}_bucket`),
    );
}

/** A histogram is asked for by its parts. */
function metricOf(name: string): Known | undefined {
  const found = known.get(name);
  if (found !== undefined && found.type !== "histogram") return found;
  const [, base = "", part] = /^(.+)_(bucket|sum|count)$/.exec(name) ?? [];
  const histogram = known.get(base);
  if (histogram?.type !== "histogram") return undefined;
  return { type: "counter", labels: [...histogram.labels, ...(part === "bucket" ? ["le"] : [])] };
}

describe("what alerts and dashboards ask for is told by a running broker and its agents", () => {
  test("there is something to compare", () => {
    expect(known.size).toBeGreaterThan(30);
    expect(QUERIES.length).toBeGreaterThan(70);
  });

  test.each(QUERIES)("$where", ({ expr, shown }) => {
    const { selectors, labels, rising } = needsOf(expr);
    expect(selectors.length).toBeGreaterThan(0);
    const missing = selectors.flatMap(({ metric, matchers }) => {
      const found = metricOf(metric);
      if (found === undefined) return [metric];
      const isKnown = ({ label }: Matcher) => [...found.labels, ...TARGET_LABELS].includes(label);
      const wrong = matchers.filter((each) => !isKnown(each) || !isThere(metric, each));
      return wrong.map(({ label, value }) => `${metric} with ${label} ${value}`);
    });
    expect(missing).toEqual([]);
    const carried = [...selectors.flatMap(({ metric }) => metricOf(metric)?.labels ?? []), ...TARGET_LABELS];
    expect([...labels, ...shown].filter((label) => !carried.includes(label))).toEqual([]);
    expect(rising.filter((metric) => metricOf(metric)?.type !== "counter")).toEqual([]);
  });
});

/** Whether a sample has exactly the value that is asked for; other operators ask for anything. */
function isThere(metric: string, { label, operator, value }: Matcher): boolean {
  if (operator !== "=" || TARGET_LABELS.includes(label)) return true;
  return scrape
    .split("\n")
    .some((line) => line.startsWith(`${metric}{`) && line.includes(`${label}="${value}"`));
}

test("every metric of the broker and the agent is in some dashboard", () => {
  const used = new Set(QUERIES.flatMap(({ expr }) => needsOf(expr).selectors.map(({ metric }) => metric)));
  const parts = (name: string): string[] => [name, `${name}_bucket`, `${name}_count`];
  expect([...known.keys()].filter((name) => !parts(name).some((part) => used.has(part)))).toEqual([]);
});
