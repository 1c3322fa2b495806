import type { ReadinessCheck } from "@resource-broker/runtime";
import type { AgentCore } from "./core/agent-core.ts";

/** What must be well before the agent counts as ready. A replica that waits for the lease is ready to take over. */
export function agentChecks(core: () => AgentCore | undefined): readonly ReadinessCheck[] {
  return [
    { name: "cluster", problem: () => clusterProblem(core()) },
    { name: "objects", problem: () => objectsProblem(core()) },
    { name: "broker", problem: () => brokerProblem(core()) },
  ];
}

function clusterProblem(core: AgentCore | undefined): string | undefined {
  for (const [resource, health] of Object.entries(core?.lending.health() ?? {})) {
    if (health.state === "starting") return `${resource} have not been listed yet`;
    if (health.state === "troubled") return `${resource}: ${health.fault.message}`;
  }
  return undefined;
}

function objectsProblem(core: AgentCore | undefined): string | undefined {
  const isSynced = core === undefined || core.objects.synced();
  return isSynced ? undefined : "requests and instructions have not been listed yet; are the CRDs installed?";
}

/** Before the first advertisement nobody can borrow here; later the broker may be away for a while. */
function brokerProblem(core: AgentCore | undefined): string | undefined {
  if (core === undefined) return undefined;
  const last = core.lending.lastPublication();
  if (last === undefined) return "the cluster has not been advertised yet";
  return last.ok ? undefined : `the last advertisement was not accepted: ${last.fault.message}`;
}
