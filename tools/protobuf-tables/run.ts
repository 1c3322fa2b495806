/**
 * Asks Kubernetes' own Go code how it writes pods and nodes as protobuf, and writes down its tables of fields and, for
 * the tests, objects as it writes them.
 */
import { fileURLToPath } from "node:url";
import { askGo } from "../go-oracle/ask-go.ts";
import { renderTables } from "./render-tables.ts";
import { SAMPLE_OBJECTS } from "./sample-objects.ts";

const flags = process.argv.slice(2);
const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const go = { name: "protobuf-tables", script: "oracle:protobuf", folder: pathOf(".") };
const samples = { ...go, question: { ask: "samples", objects: SAMPLE_OBJECTS } };
const ofKubeSim = pathOf("../../test/kube-sim/src/protobuf/");
const ofKube = pathOf("../../packages/kube/src/protobuf/");

process.exitCode =
  askGo(
    { ...go, question: { ask: "tables" }, file: `${ofKubeSim}tables.generated.ts`, render: renderTables },
    flags,
  ) || askGo({ ...samples, file: `${ofKube}testing/go-samples.json`, render: renderSamples }, flags);

interface Answer {
  readonly oracle: string;
  readonly objects: readonly { readonly name: string }[];
}

/** Go's answer with one object on each line, so that a changed object is a changed line in a review. */
function renderSamples(text: string): string {
  const answer: unknown = JSON.parse(text);
  if (!isAnswer(answer)) throw new Error("the Go program answers another question");
  const { oracle, objects, ...rest } = answer;
  const lines = objects.map((object) => JSON.stringify(object));
  const members = Object.entries({ oracle, ...rest }).map(
    ([name, value]) => `"${name}": ${JSON.stringify(value)}`,
  );
  return `{\n${members.join(",\n")},\n"objects": [\n${lines.join(",\n")}\n]\n}\n`;
}

function isAnswer(value: unknown): value is Answer {
  return typeof value === "object" && value !== null && "objects" in value;
}
