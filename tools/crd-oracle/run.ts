/** Asks Kubernetes' own code what it makes of deploy/crds and of every admission case, and writes crd-oracle.json. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ADMISSION_CASES } from "@resource-broker/contract/testing";
import { parse } from "yaml";
import { askGo } from "../go-oracle/ask-go.ts";

const CRDS = fileURLToPath(new URL("../../deploy/crds", import.meta.url));

const files = readdirSync(CRDS)
  .filter((name) => name.endsWith(".yaml"))
  .sort()
  .map((name) => ({ name, text: readFileSync(join(CRDS, name), "utf8") }));

const oracle = {
  name: "crd-oracle",
  script: "oracle:crd",
  folder: fileURLToPath(new URL(".", import.meta.url)),
  question: { definitions: files.map(({ text }): unknown => parse(text)), cases: ADMISSION_CASES },
  file: fileURLToPath(new URL("../../packages/contract/golden/crd-oracle.json", import.meta.url)),
  render: (answers: string) => {
    const asked = {
      definitions: Object.fromEntries(files.map(({ name, text }) => [name, sha256(text)])),
      cases: sha256(JSON.stringify(ADMISSION_CASES)),
    };
    const answered: unknown = JSON.parse(answers);
    return `${JSON.stringify({ asked, answered }, undefined, 1)}\n`;
  },
};

process.exitCode = askGo(oracle, process.argv.slice(2));

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
