import type { Run } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { type Mood, type Paint, paintFor } from "../output/colour.ts";
import { print } from "../output/print.ts";
import { checkBroker } from "./check-broker.ts";
import { checkCluster } from "./check-cluster.ts";
import type { Finding, FindingStatus } from "./finding.ts";
import type { CHECK_OPTIONS } from "./options.ts";

const MARKS: Readonly<Record<FindingStatus, { readonly mark: string; readonly mood: Mood }>> = {
  ok: { mark: "✓", mood: "good" },
  warning: { mark: "!", mood: "careful" },
  failed: { mark: "✗", mood: "bad" },
  skipped: { mark: "-", mood: "quiet" },
};

export const check: Run<typeof CHECK_OPTIONS> = async ({ options }, host) => {
  const findings = [
    ...(options.only === "cluster" ? [] : await checkBroker(options, host)),
    ...(options.only === "broker" ? [] : await checkCluster(options, host)),
  ];
  const paint = paintFor(host);
  const wrong = findings.filter(({ status }) => status === "failed");
  print(
    {
      data: findings,
      table: () => findings.map((finding) => lineOf(finding, findings, paint)).join(""),
      names: () => wrong.map(({ name }) => name),
    },
    options.output,
    host,
  );
  if (wrong.length > 0)
    throw new CommandError("error", `${wrong.length} of ${findings.length} checks failed`);
};

function lineOf({ name, status, message, remedy }: Finding, all: readonly Finding[], paint: Paint): string {
  const width = Math.max(...all.map((each) => each.name.length));
  const { mark, mood } = MARKS[status];
  const advice = remedy === undefined ? "" : `. ${remedy}`;
  return `${paint(mark, mood)} ${name.padEnd(width)}   ${message}${advice}\n`;
}
