import { ADOPTION_MUTANTS } from "./adoption-mutants.ts";
import { ADVERTISEMENT_MUTANTS } from "./advertisement-mutants.ts";
import { AGENT_MUTANTS } from "./agent-mutants.ts";
import { BUDGET_MUTANTS } from "./budget-mutants.ts";
import { CERTIFICATE_MUTANTS } from "./certificate-mutants.ts";
import { CLI_MUTANTS } from "./cli-mutants.ts";
import { DASHBOARD_MUTANTS } from "./dashboard-mutants.ts";
import { DRAIN_MUTANTS } from "./drain-mutants.ts";
import { EDGE_MUTANTS } from "./edge-mutants.ts";
import { CAMPAIGN_MUTANTS, ENGINE_MUTANTS } from "./engine-mutants.ts";
import { LEDGER_MUTANTS } from "./ledger-mutants.ts";
import { MEMBER_MUTANTS } from "./member-mutants.ts";
import type { Mutant } from "./mutant.ts";
import { NOMINATION_MUTANTS } from "./nomination-mutants.ts";
import { PEERING_MUTANTS } from "./peering-mutants.ts";
import { PREEMPTION_MUTANTS } from "./preemption-mutants.ts";
import { QUEUE_MUTANTS } from "./queue-mutants.ts";
import { REPLICA_MUTANTS } from "./replica-mutants.ts";
import { WAITING_CALL_MUTANTS } from "./waiting-call-mutants.ts";

export const MUTANTS: readonly Mutant[] = [
  ...ADOPTION_MUTANTS,
  ...ENGINE_MUTANTS,
  ...ADVERTISEMENT_MUTANTS,
  ...LEDGER_MUTANTS,
  ...MEMBER_MUTANTS,
  ...QUEUE_MUTANTS,
  ...NOMINATION_MUTANTS,
  ...PREEMPTION_MUTANTS,
  ...DRAIN_MUTANTS,
  ...WAITING_CALL_MUTANTS,
  ...CLI_MUTANTS,
  ...BUDGET_MUTANTS,
  ...EDGE_MUTANTS,
  ...DASHBOARD_MUTANTS,
  ...CERTIFICATE_MUTANTS,
  ...REPLICA_MUTANTS,
  ...AGENT_MUTANTS,
  ...PEERING_MUTANTS,
  ...CAMPAIGN_MUTANTS,
];
