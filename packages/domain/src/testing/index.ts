export { REJECTION_CODES } from "../ledger/command.ts";
export { inOrder } from "../queue/order.ts";
export { barredBy } from "../queue/passed-over.ts";
export { chooseProvider } from "../scheduling/choose-provider.ts";

export {
  type ClusterSketch,
  cluster,
  NOON,
  priced,
  request,
  reservation,
  type Size,
  size,
} from "./builders.ts";
export { comparableLedger, recordsOf } from "./comparable-ledger.ts";
export { differsFromModel, keyOf, LedgerModel } from "./ledger-model.ts";
export { ReceivedCommands } from "./fitting-rules.ts";
export { violationIn } from "./ledger-rules.ts";
export { accept, bind, enroll, evict, identityKey, invite, secretHash } from "./member-commands.ts";
export { commandsFor, type LedgerAction, ledgerAction } from "./random-commands.ts";
export { runs } from "./runs.ts";
export { ADMIN, actor, HOUR_MS, MINUTE_MS, openWorld, type World } from "./world.ts";
