import { growthTest } from "./10-growth/growth.ts";
import { moneyTest } from "./11-money/money.ts";
import { virtualNodeTest } from "./12-virtual-node/virtual-node.ts";
import { waitingTest } from "./13-waiting/waiting.ts";
import { latencyTest } from "./4-latency/latency.ts";
import { concurrencyTest } from "./5-concurrency/concurrency.ts";
import { accuracyTest } from "./6-accuracy/accuracy.ts";
import { agentBandwidthTest, agentFootprintTest } from "./agent-at-rest.ts";
import { decideTest } from "./decide.ts";
import { exhaustionTest } from "./exhaustion.ts";
import { loadTest } from "./load.ts";
import { pushTest } from "./push.ts";
import { recoveryTest } from "./recovery.ts";
import { brokerCpuTest, brokerMemoryTest } from "./staircase/staircase.ts";
import { startUpTest } from "./start-up.ts";
import type { EvaluationTest } from "../evaluation-test.ts";

/** All of them, in the order in which they run and are reported. Results must survive JSON: no Map, no NaN, no undefined that matters. */
export const TESTS: readonly EvaluationTest[] = [
  brokerCpuTest,
  brokerMemoryTest,
  exhaustionTest,
  agentBandwidthTest,
  agentFootprintTest,
  latencyTest,
  concurrencyTest,
  loadTest,
  decideTest,
  accuracyTest,
  startUpTest,
  pushTest,
  recoveryTest,
  growthTest,
  moneyTest,
  virtualNodeTest,
  waitingTest,
];
