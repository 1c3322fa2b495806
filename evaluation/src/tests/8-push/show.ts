import type { Chart } from "../../charts/chart.ts";
import type { Findings } from "../../evaluation-test.ts";
import { PREDECESSOR } from "../../predecessor.ts";
import { factorText } from "../../report/factor-text.ts";
import { markdownTable } from "../../report/markdown-table.ts";
import { countText, numberText } from "../../report/number-text.ts";
import { POLL_EVERY_MS } from "./providers.ts";
import { metricsOf, type Notification, notifiedShare, thinned, WAYS, type Way } from "./results.ts";

const THEIR_MEAN_MS = PREDECESSOR.latencyMs.providerInstruction;
const TARGET = { median: 2, p99: 20 };
const CURVE_POINTS = 30;

export interface PushResult {
  readonly providers: number;
  readonly told: readonly Notification[];
}

export function chartsOf({ providers, told }: PushResult): readonly Chart[] {
  const curve = (way: Way) => thinned(notifiedShare(told, way), CURVE_POINTS);
  return [
    {
      name: "8-push",
      title: "When a provider knows what it has to hold",
      subtitle: `since the request was sent (decision and durable commit included); ${providers} providers of each kind`,
      kind: "lines",
      x: { label: "time since the request", unit: "ms", scale: "log" },
      y: { label: "providers that know", unit: "%", scale: "linear" },
      series: [
        { label: "this system, push", style: "ours", points: curve("push") },
        { label: `this system, poll every ${POLL_EVERY_MS / 1000} s`, style: "third", points: curve("poll") },
      ],
      notes: [`Go thesis, 2026, published: ${countText(THEIR_MEAN_MS)} ms on average, by polling every 5 s`],
    },
  ];
}

export function findingsOf({ told }: PushResult): Findings {
  const metrics = WAYS.flatMap((way) => metricsOf(told, way) ?? []);
  const push = metrics.find(({ way }) => way === "push");
  const poll_ = metrics.find(({ way }) => way === "poll");
  const isShort =
    push !== undefined && (push.notified.median > TARGET.median || push.notified.p99 > TARGET.p99);
  return {
    summary: [
      {
        metric: "8 provider told by push, median / p99",
        ours:
          push === undefined
            ? "–"
            : `${numberText(push.notified.median)} / ${numberText(push.notified.p99)} ms`,
        theirs: `${countText(THEIR_MEAN_MS)} ms mean (poll)`,
        factor: factorText(push?.notified.mean, THEIR_MEAN_MS),
      },
    ],
    text: [
      markdownTable(
        ["way", "reservations", "mean", "median", "p95", "p99", "most", "median after the requester's reply"],
        metrics.map(({ way, notified: all, afterReply }) => [
          way,
          countText(all.count),
          ...[all.mean, all.median, all.p95, all.p99, all.most, afterReply.median].map(
            (ms) => `${numberText(ms)} ms`,
          ),
        ]),
      ),
      "",
      ...(isShort
        ? [
            `**Short of our own target** of ${TARGET.median} / ${TARGET.p99} ms (median / p99 after the commit): ours is measured from the request on, with the decision and the commit in it, on a machine that is shared.`,
            "",
          ]
        : []),
      `Polling is no better than the predecessor's: ${numberText(poll_?.notified.mean ?? 0)} ms on average here, because half of a 5 s interval is 2.5 s. It is the fallback for brokers and proxies that cannot keep a stream open.`,
    ].join("\n"),
  };
}
