import { join } from "node:path";
import { advertisementCall } from "@resource-broker/client";
import type { AdvertisementDTO } from "@resource-broker/contract";
import type { BrokerProcess, TestCertificates } from "@resource-broker/testkit";
import type { Context } from "../../evaluation-test.ts";
import { startClusters } from "../../measure/clusters/start-clusters.ts";
import { startMeasuredAgent, startMeasuredBroker } from "../../measure/start-programs.ts";
import { withCleanup } from "../../measure/with-cleanup.ts";
import type { Step } from "./staircase.ts";
import { type StepContext, watchStep } from "./watch-step.ts";

/** More at once would only wait for each other on the cores of the load. */
const AT_ONCE = 4;
/** A small cluster each, in which nothing happens. */
const SHAPE = { nodes: 3, pods: 20 };

/** Real agent processes, one for each of as many simulated clusters; more and more of them on one broker. */
export function measureAgents(
  context: Context,
  certificates: TestCertificates,
  stepContext: StepContext,
): Promise<AgentSteps> {
  return withCleanup(async (onCleanup) => {
    const directory = join(context.folder, "broker-agents");
    const broker = await startMeasuredBroker(context, { certificates, directory });
    onCleanup(broker.dispose);
    const clusters = startClusters();
    onCleanup(clusters.stop);
    const agents: (() => Promise<void>)[] = [];
    onCleanup(() => Promise.all(agents.map((dispose) => dispose())));

    const startOne = async (number: number): Promise<void> => {
      const name = nameOf(number);
      const kubeconfig = await clusters.add({ name, ...SHAPE });
      const agent = await startMeasuredAgent(context, { clusterId: name, broker, certificates, kubeconfig });
      agents.push(agent.dispose);
    };
    const growTo = async (count: number): Promise<void> => {
      let next = agents.length;
      const some = async (): Promise<void> => {
        while (next < count) {
          context.signal.throwIfAborted();
          await startOne(next++);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, some));
    };

    const steps: Step[] = [];
    for (const count of stepContext.plan.counts.agents) {
      stepContext.onActivity(`starting agents, up to ${count}`);
      await growTo(count);
      steps.push(
        await watchStep(context, broker, { stepContext, fleet: "agents", count, failures: () => 0 }),
      );
    }
    return { steps, advertisement: await advertisementOf(broker, nameOf(0)) };
  });
}

export interface AgentSteps {
  readonly steps: readonly Step[];
  /** What one of them says to the broker. */
  readonly advertisement: AdvertisementDTO;
}

const nameOf = (number: number): string => `agent-${number}`;

async function advertisementOf(broker: BrokerProcess, name: string): Promise<AdvertisementDTO> {
  const { value } = await broker.api().request(advertisementCall(name));
  // What the broker itself says of a cluster is not posted.
  const { standing: _, ...advertisement } = value;
  return advertisement;
}
