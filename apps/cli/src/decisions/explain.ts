import type { DecisionDTO } from "@resource-broker/contract";
import type { Run } from "../cli/command.ts";
import type { Host } from "../cli/host.ts";
import { withBroker } from "../connection/broker.ts";
import { paintFor } from "../output/colour.ts";
import type { OutputFormat } from "../output/output-option.ts";
import { print } from "../output/print.ts";
import type { EXPLAIN_OPTIONS } from "./options.ts";
import { decisionText } from "./print-decision.ts";
import { readDecision } from "./read-decision.ts";

export const explain: Run<typeof EXPLAIN_OPTIONS> = async ({ options, words }, host) => {
  const [word = ""] = words;
  await withBroker(options, host, async (broker) => {
    const { value } = await readDecision(broker, word);
    printDecision(value, options.output, host);
  });
};

function printDecision(decision: DecisionDTO, output: OutputFormat, host: Host): void {
  const paint = paintFor(host);
  print(
    {
      data: decision,
      table: () => decisionText(decision, { paint, isWide: false }),
      wide: () => decisionText(decision, { paint, isWide: true }),
      names: () => [decision.id],
    },
    output,
    host,
  );
}
