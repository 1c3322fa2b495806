/** How a command prints its data; the same flag on every command that has any. */
export const OUTPUT = {
  kind: "choice",
  short: "o",
  value: "format",
  choices: ["table", "wide", "json", "yaml", "name"],
  default: "table",
  summary: "how to print the result",
} as const;

export type OutputFormat = (typeof OUTPUT.choices)[number];
