import { OUTPUT } from "../output/output-option.ts";

const STORE = {
  kind: "text",
  summary: "where the broker keeps its ledger, as in its own --store",
  value: "sqlite:<folder>",
  env: "BROKER_STORE",
  default: "sqlite:/var/lib/broker",
} as const;

export const BACKUP_OPTIONS = { store: STORE, output: OUTPUT } as const;

export const RESTORE_OPTIONS = {
  store: STORE,
  force: {
    kind: "flag",
    summary: "replace the ledger that is there; it is kept beside as ledger.db.replaced",
  },
  "new-id": {
    kind: "flag",
    summary: "give it a new Ledger-ID: agents treat it as an empty ledger and report all their reservations",
  },
  output: OUTPUT,
} as const;

export const VERIFY_OPTIONS = { store: STORE, output: OUTPUT } as const;
