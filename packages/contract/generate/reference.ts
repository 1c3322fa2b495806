import { FAULTS } from "@resource-broker/base";
import type { Kind } from "../src/crd/kind.ts";
import { policySchema } from "../src/policy/policy-schema.ts";
import { childrenOf, fieldRows, shapesSection, TABLE_HEAD } from "./fields.ts";

export const GENERATED = "<!-- Generated from packages/contract. Do not edit: run `npm run generate`. -->\n";

/** docs/reference/faults.md: every code, and what to do. */
export function faultsReference(): string {
  const rows = Object.entries(FAULTS).map(
    ([code, { status, retry, advice }]) =>
      `| \`${code}\` | ${status} | ${retry ? "yes" : "no"} | ${advice} |`,
  );
  return [
    GENERATED,
    "# Faults",
    "",
    "Every error reply has the body `{error, code, reasons?, decisionID?}`. `code` is one of these and never changes its meaning.",
    '"Ask again" means that the same request may succeed later, unchanged, and that nothing was booked.',
    "",
    "| Code | Status | Ask again | What to do |",
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

/** docs/reference/crds.md: every field of every kind; shapes that occur often are described once, at the end. */
export function kindsReference(kinds: readonly Kind<unknown, unknown>[]): string {
  return [
    GENERATED,
    "# Kubernetes objects",
    "",
    "`kubectl get resourcebroker` lists the objects of every kind. Needs Kubernetes 1.29 or newer.",
    "",
    ...kinds.flatMap(kindSection),
    ...shapesSection(kinds.flatMap(({ spec, status }) => [spec, status].flatMap(childrenOf))),
  ].join("\n");
}

function kindSection(kind: Kind<unknown, unknown>): string[] {
  return [
    `## ${kind.kind}`,
    "",
    `\`${kind.group}/${kind.version}\`, short name \`${kind.shortNames.join("`, `")}\`. ${kind.description}`,
    "",
    ...TABLE_HEAD,
    ...fieldRows(kind.spec, "spec."),
    ...fieldRows(kind.status, "status."),
    "",
  ];
}

/** docs/reference/policy.md: every setting of the policy file and of the BrokerPolicy's spec. */
export function policyReference(): string {
  return [
    GENERATED,
    "# Settings of the policy",
    "",
    "The same in the file of `--policy` and in the `spec` of a `BrokerPolicy`. How they work together: [policy.md](../policy.md).",
    "",
    ...TABLE_HEAD,
    ...fieldRows(policySchema, ""),
    "",
    ...shapesSection(childrenOf(policySchema)),
  ].join("\n");
}
