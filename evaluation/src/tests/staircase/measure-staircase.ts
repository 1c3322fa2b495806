import { testCertificates } from "@resource-broker/testkit";
import type { Context } from "../../evaluation-test.ts";
import { measureAgents } from "./measure-agents.ts";
import { measureClients } from "./measure-clients.ts";
import { INTERVAL_MS, PLANS, type Staircase } from "./staircase.ts";
import type { StepContext } from "./watch-step.ts";

/** One broker for agents, one for clients, one for pollers: none has another's past in its memory. */
export async function measureStaircase(context: Context): Promise<Staircase> {
  const plan = PLANS[context.size];
  const { agents, clients, pollers } = plan.counts;
  const totalMs = plan.windowMs * (agents.length + clients.length + pollers.length);
  let passedMs = 0;
  const stepContext: StepContext = {
    plan,
    onActivity: (doing) => context.progress(passedMs / totalMs, doing),
    advance: (ms, doing) => {
      passedMs += ms;
      context.progress(passedMs / totalMs, doing);
    },
  };
  const certificates = await testCertificates();
  const climbed = await measureAgents(context, certificates, stepContext);
  const shared = { certificates, stepContext, advertisement: climbed.advertisement };
  const steps = [
    ...climbed.steps,
    ...(clients.length === 0 ? [] : await measureClients(context, { ...shared, fleet: "clients" })),
    ...(pollers.length === 0 ? [] : await measureClients(context, { ...shared, fleet: "pollers" })),
  ];
  return { windowMs: plan.windowMs, intervalMs: INTERVAL_MS, steps };
}
