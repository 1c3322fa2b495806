import { exhaustionTest } from "./1c-exhaustion/exhaustion.ts";
import { agentBandwidthTest, agentFootprintTest } from "./agent-at-rest.ts";
import { latencyTest } from "./4-latency/latency.ts";
import { concurrencyTest } from "./5-concurrency/concurrency.ts";
import { accuracyTest } from "./6-accuracy/accuracy.ts";
import { startUpTest } from "./7-start-up/start-up.ts";
import { pushTest } from "./push.ts";
import { recoveryTest } from "./recovery.ts";
import { growthTest } from "./10-growth/growth.ts";
import { moneyTest } from "./11-money/money.ts";
import { virtualNodeTest } from "./12-virtual-node/virtual-node.ts";
import { brokerCpuTest, brokerMemoryTest } from "./staircase/aspects.ts";
import { decideTest } from "./decide/decide.ts";
import { loadTest } from "./load/load.ts";
import { type ListedTest, listTest } from "../evaluation-test.ts";

/** All of them, in the order in which they run and are reported. Results must survive JSON: no Map, no NaN, no undefined that matters. */
export const TESTS: readonly ListedTest[] = [
  listTest(brokerCpuTest),
  listTest(brokerMemoryTest),
  listTest(exhaustionTest),
  listTest(agentBandwidthTest),
  listTest(agentFootprintTest),
  listTest(latencyTest),
  listTest(concurrencyTest),
  listTest(loadTest),
  listTest(decideTest),
  listTest(accuracyTest),
  listTest(startUpTest),
  listTest(pushTest),
  listTest(recoveryTest),
  listTest(growthTest),
  listTest(moneyTest),
  listTest(virtualNodeTest),
];
