import { startFaultyProxy, testCertificates } from "@resource-broker/testkit";
import type { Context, Size } from "../../evaluation-test.ts";
import { startClusters } from "../../measure/clusters/start-clusters.ts";
import { type Sample, sampleProcess } from "../../measure/sample-process.ts";
import { pidOf, startMeasuredAgent, startMeasuredBroker } from "../../measure/start-programs.ts";
import { withCleanup } from "../../measure/with-cleanup.ts";
import { countFreshClusters } from "../staircase/fresh-clusters.ts";

/** A look at an agent, and at the wire between it and the broker. */
export interface AgentSample extends Sample {
  /** Since it started, on all its connections; TLS included, the headers of TCP and IP not. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

/** An agent from the start of its process on. */
export interface AgentAtRest {
  readonly forMs: number;
  readonly nodes: number;
  readonly pods: number;
  readonly samples: readonly AgentSample[];
  /** How many connections it has made to the broker. */
  readonly connections: number;
  /** How many clusters the broker had heard lately, in the end: one. */
  readonly heard: number;
}

const FOR_MS: Readonly<Record<Size, number>> = { smoke: 3_000, quick: 45_000, full: 300_000 };
const SAMPLE_EVERY_MS = 500;
const SHAPE = { name: "resting", nodes: 10, pods: 200 };

/** Traffic and footprint of the same agent, told apart in the report. */
export const AGENT_AT_REST = {
  measurement: "2-3",
  expectedSeconds: (size: Size): number => FOR_MS[size] / 1000 + 3,
  run: measure,
  faults,
};

function measure(context: Context): Promise<AgentAtRest> {
  const forMs = FOR_MS[context.size];
  return withCleanup(async (onCleanup) => {
    const certificates = await testCertificates();
    const broker = await startMeasuredBroker(context, { certificates });
    onCleanup(broker.dispose);
    const clusters = startClusters();
    onCleanup(clusters.stop);
    const kubeconfig = await clusters.add(SHAPE);
    const proxy = await startFaultyProxy(broker);
    onCleanup(proxy.close);
    // Nobody asks whether it is ready: its answers would be measured with it.
    const agent = await startMeasuredAgent(context, {
      clusterId: SHAPE.name,
      broker: proxy,
      certificates,
      kubeconfig,
      waits: false,
    });
    onCleanup(agent.dispose);
    const samples: AgentSample[] = [];
    await sampleProcess(pidOf(agent), {
      everyMs: SAMPLE_EVERY_MS,
      forMs,
      signal: context.signal,
      onSample: (sample) => {
        const { sent, received } = proxy.bytes();
        samples.push({ ...sample, sentBytes: sent, receivedBytes: received });
        context.progress(sample.atMs / forMs, "one agent in a small cluster");
      },
    });
    return {
      forMs,
      nodes: SHAPE.nodes,
      pods: SHAPE.pods,
      samples,
      connections: proxy.connections().made,
      heard: await countFreshClusters(broker),
    };
  });
}

/** The agent must have been there all the time. */
function faults({ heard, samples }: AgentAtRest): string[] {
  const isSilent = (samples.at(-1)?.sentBytes ?? 0) === 0;
  return [
    ...(heard === 1 ? [] : [`the broker had heard ${heard} clusters lately instead of one`]),
    ...(isSilent ? ["the agent has sent nothing to the broker"] : []),
  ];
}
