import type { Instant } from "../reservation/ids.ts";
import { type Outcome, rejected, type SetCordon } from "./command.ts";
import type { LedgerView } from "./ledger.ts";

export function decideCordon(ledger: LedgerView, command: SetCordon, now: Instant): Outcome {
  const { by, clusterId, why } = command;
  if (!by.isAdmin) return rejected("forbidden", `only an admin may ${command.kind} a cluster`);
  const account = ledger.accounts.get(clusterId);
  if (account === undefined)
    return rejected("not-found", `cluster ${clusterId} is unknown: it has never advertised or reserved`);
  const isCordoned = command.kind === "cordon";
  const reply = { kind: "cordon-set", clusterId, isCordoned } as const;
  if ((account.cordon !== undefined) === isCordoned) return { events: [], reply };
  if (!isCordoned) return { events: [{ kind: "uncordoned", at: now, clusterId, by: by.clusterId }], reply };
  const cordon = { at: now, by: by.clusterId, ...(why === undefined ? {} : { why }) };
  return { events: [{ kind: "cordoned", at: now, clusterId, cordon }], reply };
}
