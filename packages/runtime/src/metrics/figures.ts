import type { MetricsSource } from "../probe/pages.ts";
import { histogramOf } from "./histogram.ts";
import {
  CONTENT_TYPE,
  type Labels,
  labelText,
  metricText,
  type MetricType,
  type Sample,
} from "./text-format.ts";

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
 * A metrics registry in the Prometheus text format with the three types that the agent uses. prom-client would add 2 MB to
 * the agent's 20 MB.
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
    scrape: () => Promise.resolve([...metrics.values()].map((text) => text()).join("\n")),
    contentType: CONTENT_TYPE,
  };
}
