/** Asks Kubernetes' own code what it makes of kube-sim's corpus of schemas and objects, and writes oracle-answers.json. */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { ORACLE_CASES } from "@resource-broker/kube-sim/testing";
import { askGo } from "../go-oracle/ask-go.ts";

const answers = "../../test/kube-sim/src/crd/testing/oracle-answers.json";

const oracle = {
  name: "kube-sim-oracle",
  script: "oracle:kube-sim",
  folder: fileURLToPath(new URL(".", import.meta.url)),
  question: { cases: ORACLE_CASES },
  file: fileURLToPath(new URL(answers, import.meta.url)),
  render: (output: string) => {
    const asked = createHash("sha256").update(JSON.stringify(ORACLE_CASES)).digest("hex");
    const answered: unknown = JSON.parse(output);
    return `${JSON.stringify({ asked, answered }, undefined, 1)}\n`;
  },
};

process.exitCode = askGo(oracle, process.argv.slice(2));
