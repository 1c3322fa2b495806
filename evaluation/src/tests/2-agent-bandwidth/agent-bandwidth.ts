import type { Chart } from "../../charts/chart.ts";
import type { EvaluationTest, Findings } from "../../evaluation-test.ts";
import { PREDECESSOR } from "../../predecessor.ts";
import { factorText } from "../../report/factor-text.ts";
import { markdownTable } from "../../report/markdown-table.ts";
import { countText, NOTHING, withUnit } from "../../report/number-text.ts";
import { OURS, THEIRS } from "../../report/summary.ts";
import { AGENT_AT_REST, type AgentAtRest } from "../agent-at-rest/agent-at-rest.ts";
import { bandwidthOf, thinned } from "./results.ts";

const PUBLISHED = PREDECESSOR.agentBandwidth;

const METHOD = `One agent with its default flags in a small cluster (10 nodes, 200 pods) where nothing happens, for 5 minutes (full run) from the start of its process. Between agent and broker stands a TCP proxy that counts the bytes of both directions on all connections, read every 500 ms: TLS handshakes and records are counted, headers of TCP and IP are not (how the predecessor counted was not published). Traffic between the agent and its own cluster's API server is not counted.`;

export const agentBandwidthTest: EvaluationTest<AgentAtRest> = {
  ...AGENT_AT_REST,
  id: "2",
  title: "Agent bandwidth",
  method: METHOD,
  charts: chartsOf,
  findings: findingsOf,
};

function chartsOf({ samples, forMs }: AgentAtRest): Chart[] {
  const points = thinned(samples, forMs / 300).map(({ atMs, sentBytes }) => ({
    x: atMs / 1000,
    y: sentBytes / 1000,
  }));
  return [
    {
      name: "2-agent-bandwidth",
      title: "What an agent has sent to the broker",
      subtitle:
        "Sum since the start of the agent, TLS included; 30 s interval. Of the predecessor two sums are published",
      kind: "lines",
      x: { label: "time since start", unit: "s", scale: "linear" },
      y: { label: "sent", unit: "kB", scale: "linear" },
      series: [
        { label: OURS, style: "ours", points },
        {
          label: THEIRS,
          style: "theirs",
          points: [
            { x: 30, y: PUBLISHED.first30sBytes / 1000 },
            { x: PUBLISHED.seconds, y: PUBLISHED.bytes / 1000 },
          ],
        },
      ],
    },
  ];
}

function findingsOf(result: AgentAtRest): Findings {
  const ours = bandwidthOf(result);
  if (ours === undefined) return { summary: [], text: "" };
  const rate = {
    metric: "Agent → broker traffic",
    ours: withUnit(ours.sentPerSecond, "B/s"),
    theirs: withUnit(PUBLISHED.bytesPerSecond, "B/s"),
    factor: factorText(ours.sentPerSecond, PUBLISHED.bytesPerSecond),
  };
  const isWhole = ours.seconds >= PUBLISHED.seconds * 0.99;
  const rows = [
    [
      `sent in ${countText(Math.round(ours.seconds))} s`,
      `${countText(ours.sentBytes)} B`,
      isWhole ? `${countText(PUBLISHED.bytes)} B` : NOTHING,
    ],
    ["sent per second", rate.ours, rate.theirs],
    [
      "sent in the first 30 s",
      `${countText(ours.firstSentBytes)} B`,
      `${countText(PUBLISHED.first30sBytes)} B`,
    ],
    [
      "sent per second after that",
      withUnit(ours.laterSentPerSecond, "B/s"),
      withUnit(publishedLater(), "B/s"),
    ],
    ["received per second", withUnit(ours.receivedPerSecond, "B/s"), NOTHING],
    ["connections made", countText(result.connections), NOTHING],
  ];
  return { summary: [rate], text: markdownTable(["", OURS, THEIRS], rows) };
}

/** From the two sums that are published. */
function publishedLater(): number {
  return (PUBLISHED.bytes - PUBLISHED.first30sBytes) / (PUBLISHED.seconds - 30);
}
