import type { Scraped } from "../probe/pages.ts";
import { histogramOf } from "./histogram.ts";
import {
  CONTENT_TYPE,
  type Labels,
  labelText,
  metricText,
  type MetricType,
  type Sample,
} from "./text-format.ts";

export interface About {
  readonly name: string;
  readonly help: string;
}

export interface Counter {
  readonly inc: (labels?: Labels, by?: number) => void;
}

export interface Histogram {
  readonly observe: (value: number) => void;
}

/** A value that is read off something else when Prometheus asks. */
export interface Reading {
  readonly labels?: Labels;
  readonly value: number;
}

/**
 * The figures of a program in the text format of Prometheus: the three kinds that we have, and no more. prom-client
 * takes 2 MB of the agent's 20.
 */
export interface Figures extends Scraped {
  /** Without labels it shows 0 before it is first counted. */
  readonly counter: (about: About & { readonly isLabelled?: boolean }) => Counter;
  readonly histogram: (about: About & { readonly buckets: readonly number[] }) => Histogram;
  /** Figures that are kept elsewhere anyway cost nothing until they are looked at. */
  readonly read: (
    about: About & { readonly type: "gauge" | "counter" },
    look: () => Iterable<Reading>,
  ) => void;
}

export function createFigures(): Figures {
  const metrics = new Map<string, () => string>();

  const add = (about: About & { readonly type: MetricType }, samples: () => Iterable<Sample>): void => {
    if (metrics.has(about.name)) throw new TypeError(`there is a figure ${about.name} already`);
    metrics.set(about.name, () => metricText(about, samples()));
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
    read: (about, look) =>
      add(about, () => Array.from(look(), ({ labels = {}, value }) => ({ suffix: "", labels, value }))),
    scrape: () => Promise.resolve([...metrics.values()].map((text) => text()).join("\n")),
    contentType: CONTENT_TYPE,
  };
}
