import { refusedCertificate } from "@resource-broker/client";
import type { ReadinessCheck } from "@resource-broker/runtime";
import type { AgentCore } from "./core/agent-core.ts";
import type { Refusal } from "./identity/refusal.ts";

/** State of the start. A replica that waits for the lease counts as ready. */
export type Progress =
  | { readonly kind: "starting" | "waiting" }
  | { readonly kind: "working"; readonly core: AgentCore };

/** The readiness checks of the agent. `accessProblem`: why it has no access to the broker; absent without an identity of its own. */
export function agentChecks(
  progress: () => Progress,
  accessProblem?: () => string | undefined,
): readonly ReadinessCheck[] {
  const check = (name: string, problemOf: (core: AgentCore) => string | undefined): ReadinessCheck => ({
    name,
    problem: () => {
      const now = progress();
      if (now.kind === "working") return problemOf(now.core);
      return now.kind === "starting" ? "the agent is starting" : undefined;
    },
  });
  const access = accessProblem === undefined ? [] : [{ name: "identity", problem: accessProblem }];
  return [
    ...access,
    check("cluster", clusterProblem),
    check("objects", objectsProblem),
    check("broker", brokerProblem),
  ];
}

function clusterProblem({ provider }: AgentCore): string | undefined {
  for (const [resource, health] of Object.entries(provider.health())) {
    if (health.state === "starting") return `${resource} have not been listed yet`;
    if (health.state === "failing") return `${resource}: ${health.fault.message}`;
  }
  return undefined;
}

function objectsProblem({ objects }: AgentCore): string | undefined {
  return objects.synced()
    ? undefined
    : "requests and instructions have not been listed yet; are the CRDs installed?";
}

/** Before the first accepted advertisement nothing can be reserved here. */
function brokerProblem({ provider }: AgentCore): string | undefined {
  const last = provider.lastPublication();
  if (last === undefined) return "the cluster has not been advertised yet";
  return last.ok ? undefined : `the last advertisement was not accepted: ${last.fault.message}`;
}

/** Why the newest advertisement was not accepted, where another certificate of this agent may help; undefined: it would not. */
export function refusalOf(progress: Progress): Refusal | undefined {
  const last = progress.kind === "working" ? progress.core.provider.lastPublication() : undefined;
  if (last === undefined || last.ok) return undefined;
  const { fault } = last;
  const what = fault.code === "wrong-instance" ? "instance" : refusedCertificate(fault);
  return what && { what, message: fault.message };
}
