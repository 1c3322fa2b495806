/** Asks Kubernetes' own code what it makes of every text in inputs.ts and writes oracle-cases.json. */
import { fileURLToPath } from "node:url";
import { askGo } from "../go-oracle/ask-go.ts";
import { ORACLE_GROUPS } from "./inputs.ts";

const oracle = {
  name: "quantity-oracle",
  script: "oracle:quantity",
  folder: fileURLToPath(new URL(".", import.meta.url)),
  question: ORACLE_GROUPS,
  file: fileURLToPath(new URL("../../packages/base/src/quantity/oracle-cases.json", import.meta.url)),
  render: (answers: string) => answers,
};

process.exitCode = askGo(oracle, process.argv.slice(2));
