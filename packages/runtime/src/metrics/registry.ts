import { monitorEventLoopDelay } from "node:perf_hooks";
import { type CertificateSet, certificateExpiries } from "../certificates/certificate-set.ts";
import type { MetricsSource } from "../probe/pages.ts";

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

type Labels = Readonly<Record<string, string>>;

type MetricType = "counter" | "gauge" | "histogram";

/** One value of a metric. */
interface Sample {
  /** What follows the metric's name: `_sum`, or nothing. */
  readonly suffix: string;
  readonly labels: Labels;
  readonly value: number;
}

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
}

export interface Counter {
  readonly inc: (labels?: Labels, by?: number) => void;
}

export interface Histogram {
  readonly observe: (value: number) => void;
}

/** A value that is collected at scrape time. */
export interface CollectedValue {
  readonly labels?: Labels;
  readonly value: number;
}

/**
 * A metrics registry in the Prometheus text format with the three types that broker and agent use. prom-client would add
 * 2 MB to the agent's 20 MB.
 */
export interface MetricsRegistry extends MetricsSource {
  /** A counter without labels starts at 0. */
  readonly counter: (about: MetricOptions & { readonly isLabelled?: boolean }) => Counter;
  readonly histogram: (about: MetricOptions & { readonly buckets: readonly number[] }) => Histogram;
  /** A metric whose values are collected at scrape time. */
  readonly collector: (
    about: MetricOptions & { readonly type: "gauge" | "counter" },
    look: () => Iterable<CollectedValue>,
  ) => void;
  /** A gauge without labels that is read at scrape time. */
  readonly gauge: (about: MetricOptions, read: () => number) => void;
}

export function createMetricsRegistry(): MetricsRegistry {
  const metrics = new Map<string, () => string>();

  const add = (
    options: MetricOptions & { readonly type: MetricType },
    samples: () => Iterable<Sample>,
  ): void => {
    if (metrics.has(options.name)) throw new TypeError(`metric ${options.name} is already registered`);
    metrics.set(options.name, () => metricText(options, samples()));
  };

  return {
    counter: ({ name, help, isLabelled = false }) => {
      const counts = new Map<string, Sample>();
      const inc: Counter["inc"] = (labels = {}, by = 1) => {
        const key = labelText(labels);
        counts.set(key, { suffix: "", labels, value: (counts.get(key)?.value ?? 0) + by });
      };
      if (!isLabelled) inc({}, 0);
      add({ name, help, type: "counter" }, () => counts.values());
      return { inc };
    },
    histogram: ({ name, help, buckets }) => {
      const { observe, samples } = histogramOf(buckets);
      add({ name, help, type: "histogram" }, samples);
      return { observe };
    },
    collector: (options, collect) =>
      add(options, () => Array.from(collect(), ({ labels = {}, value }) => ({ suffix: "", labels, value }))),
    gauge: ({ name, help }, read) =>
      add({ name, help, type: "gauge" }, () => [{ suffix: "", labels: {}, value: read() }]),
    scrape: () => Promise.resolve([...metrics.values()].map((text) => text()).join("\n")),
    contentType: CONTENT_TYPE,
  };
}

/** How often values fell into each bucket; buckets are upper bounds, in rising order. */
function histogramOf(buckets: readonly number[]) {
  const bounds = [...buckets, Number.POSITIVE_INFINITY];
  const counts = new Float64Array(bounds.length);
  let sum = 0;

  const samples = function* (): Generator<Sample> {
    let total = 0;
    for (const [index, bound] of bounds.entries()) {
      total += counts[index] ?? 0;
      yield { suffix: "_bucket", labels: { le: numberText(bound) }, value: total };
    }
    yield { suffix: "_sum", labels: {}, value: sum };
    yield { suffix: "_count", labels: {}, value: total };
  };

  return {
    observe: (value: number): void => {
      const index = bounds.findIndex((bound) => value <= bound);
      // NaN belongs to no bucket and would make the sum NaN.
      if (index === -1) return;
      counts[index] = (counts[index] ?? 0) + 1;
      sum += value;
    },
    samples,
  };
}

const MICROSECONDS = 1e6;

/** CPU and memory metrics of the process. */
export function addProcessMetrics(registry: MetricsRegistry): void {
  registry.gauge({ name: "process_resident_memory_bytes", help: "Memory of the process in RAM." }, () =>
    process.memoryUsage.rss(),
  );
  registry.collector(
    {
      name: "process_cpu_seconds_total",
      help: "CPU time of the process, user and system.",
      type: "counter",
    },
    () => {
      const { user, system } = process.cpuUsage();
      return [{ value: (user + system) / MICROSECONDS }];
    },
  );
}

const LAG_RESOLUTION_MS = 100;
const NANOSECONDS = 1e9;

/** How late the event loop is. The returned function stops the measurement. */
export function addEventLoopMetric(registry: MetricsRegistry): () => void {
  const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  lag.enable();
  registry.gauge(
    {
      name: "nodejs_eventloop_lag_p99_seconds",
      help: "How late the event loop was, 99th percentile since the last scrape.",
    },
    () => {
      // The timer's own period is part of what is measured.
      const late = lag.percentile(99) / NANOSECONDS - LAG_RESOLUTION_MS / 1000;
      const value = lag.count === 0 ? 0 : Math.max(0, late);
      lag.reset();
      return value;
    },
  );
  return () => lag.disable();
}

/** Expiry of the certificates in force; nothing where there are none. */
export function addCertificateMetric(
  registry: MetricsRegistry,
  program: "agent" | "broker",
  inForce: () => CertificateSet | undefined,
): void {
  registry.collector(
    {
      name: `${program}_certificate_expiry_timestamp_seconds`,
      help: "When a certificate in force expires; of several authorities in `ca.crt` the last one.",
      type: "gauge",
    },
    () => {
      const set = inForce();
      if (set === undefined) return [];
      return certificateExpiries(set).map(({ file, atSeconds }) => ({ labels: { file }, value: atSeconds }));
    },
  );
}

/** A metric as Prometheus reads it. */
function metricText(
  { name, help, type }: { readonly name: string; readonly help: string; readonly type: MetricType },
  samples: Iterable<Sample>,
): string {
  const lines = [`# HELP ${name} ${help.replace(/[\\\n]/g, escaped)}`, `# TYPE ${name} ${type}`];
  for (const { suffix, labels, value } of samples)
    lines.push(`${name}${suffix}${labelText(labels)} ${numberText(value)}`);
  return `${lines.join("\n")}\n`;
}

function labelText(labels: Labels): string {
  const parts = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replace(/[\\\n"]/g, escaped)}"`,
  );
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "+Inf" : "-Inf";
}

function escaped(character: string): string {
  return character === "\n" ? "\\n" : `\\${character}`;
}
