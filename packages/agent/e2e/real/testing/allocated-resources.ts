import { parseAmount, type ResourceVector, resourceVector } from "@resource-broker/base";

/** The requests under "Allocated resources" of `kubectl describe node`, for each node it describes. */
export function allocatedByNode(described: string): ReadonlyMap<string, ResourceVector> {
  const nodes = described.split(/^(?=Name:)/m).filter((text) => text.startsWith("Name:"));
  return new Map(nodes.map((text) => [wordAfter("Name:", text), requestsIn(text)]));
}

function wordAfter(label: string, text: string): string {
  return text.slice(label.length).trimStart().split(/\s/)[0] ?? "";
}

function requestsIn(text: string): ResourceVector {
  const [, table = ""] = text.split(/^Allocated resources:$/m);
  const rows = [...table.matchAll(/^ {2}(\S+) {2,}(\S+)/gm)].map(([, name = "", amount = ""]) => [
    name,
    amount,
  ]);
  const requests = new Map(rows.map(([name = "", amount = ""]) => [name, amount]));
  for (const name of ["cpu", "memory", "ephemeral-storage"]) {
    if (!requests.has(name)) throw new Error(`kubectl describes no ${name}: ${text}`);
  }
  const read = (name: string, unit: "milli" | "one"): number => {
    const parsed = parseAmount(requests.get(name) ?? "0", { unit, rounding: "up" });
    if (!parsed.ok) throw new Error(`${name}: ${parsed.problem}`);
    return parsed.amount;
  };
  return resourceVector({
    cpuMillis: read("cpu", "milli"),
    memoryBytes: read("memory", "one"),
    storageBytes: read("ephemeral-storage", "one"),
    gpus: read("nvidia.com/gpu", "one"),
  });
}
