import { decideAdoptionWindow } from "./decide-adoption-window.ts";
import { decideAdopt } from "./adoption.ts";
import { decideAdvertise } from "./decide-advertise.ts";
import { decideCordon } from "./decide-cordon.ts";
import { decideExpireDue } from "./decide-expire-due.ts";
import {
  decideAcknowledge,
  decideActivate,
  decideRefuse,
  decideRelease,
  decideReleaseByKey,
  decideRenew,
} from "./decide-party-calls.ts";
import { decideImport } from "./decide-import.ts";
import { decideReserve } from "./decide-reserve.ts";
import type { Command, DecisionContext, Outcome } from "./command.ts";
import type { LedgerView } from "./ledger.ts";

/** What a command would do. Changes nothing: the caller stores the events, then applies them. */
export function decide(ledger: LedgerView, command: Command, context: DecisionContext): Outcome {
  const at: DecisionContext = { now: Math.max(context.now, ledger.time), policy: context.policy };
  switch (command.kind) {
    case "advertise":
      return decideAdvertise(ledger, command, at.now);
    case "reserve":
      return decideReserve(ledger, command, at);
    case "activate":
      return decideActivate(ledger, command, at.now);
    case "renew":
      return decideRenew(ledger, command, at);
    case "release":
      return decideRelease(ledger, command, at.now);
    case "release-by-key":
      return decideReleaseByKey(ledger, command, at.now);
    case "acknowledge":
      return decideAcknowledge(ledger, command, at.now);
    case "refuse":
      return decideRefuse(ledger, command, at.now);
    case "expire-due":
      return decideExpireDue(ledger, at);
    case "cordon":
    case "uncordon":
      return decideCordon(ledger, command, at.now);
    case "adopt":
      return decideAdopt(ledger, command, at);
    case "open-adoption":
    case "close-adoption":
      return decideAdoptionWindow(ledger, command, at);
    case "import":
      return decideImport(ledger, command, at.now);
  }
}
