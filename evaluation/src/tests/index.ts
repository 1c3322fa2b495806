import { brokerCpuTest } from "./1a-broker-cpu/broker-cpu.ts";
import { brokerMemoryTest } from "./1b-broker-memory/broker-memory.ts";
import { exhaustionTest } from "./1c-exhaustion/exhaustion.ts";
import { agentBandwidthTest } from "./2-agent-bandwidth/agent-bandwidth.ts";
import { agentFootprintTest } from "./3-agent-footprint/agent-footprint.ts";
import { latencyTest } from "./4-latency/latency.ts";
import { concurrencyTest } from "./5-concurrency/concurrency.ts";
import { accuracyTest } from "./6-accuracy/accuracy.ts";
import { startUpTest } from "./7-start-up/start-up.ts";
import { pushTest } from "./8-push/push.ts";
import { recoveryTest } from "./9-recovery/recovery.ts";
import { growthTest } from "./10-growth/growth.ts";
import { moneyTest } from "./11-money/money.ts";
import { virtualNodeTest } from "./12-virtual-node/virtual-node.ts";
import { type ListedTest, listTest } from "./list-test.ts";

/** All of them, in the order in which they run and are reported. Results must survive JSON: no Map, no NaN, no undefined that matters. */
export const TESTS: readonly ListedTest[] = [
  listTest(brokerCpuTest),
  listTest(brokerMemoryTest),
  listTest(exhaustionTest),
  listTest(agentBandwidthTest),
  listTest(agentFootprintTest),
  listTest(latencyTest),
  listTest(concurrencyTest),
  listTest(accuracyTest),
  listTest(startUpTest),
  listTest(pushTest),
  listTest(recoveryTest),
  listTest(growthTest),
  listTest(moneyTest),
  listTest(virtualNodeTest),
];
