import { safeJson, safeLine, yamlText } from "@resource-broker/base";
import type { Host } from "../cli/host.ts";
import type { OutputFormat } from "./output-option.ts";

/** The same facts in the shapes that people and programs want. */
export interface View {
  /** For json and yaml. Its shape is an interface: fields may be added, never renamed. */
  readonly data: object;
  readonly table: () => string;
  /** The table with more columns; the plain one when there are none. */
  readonly wide?: () => string;
  /** What a script would loop over. */
  readonly names: () => readonly string[];
}

export function print(view: View, format: OutputFormat, host: Host): void {
  switch (format) {
    case "table":
      return host.out(view.table());
    case "wide":
      return host.out((view.wide ?? view.table)());
    case "json":
      return host.out(`${safeJson(JSON.stringify(view.data, null, 2))}\n`);
    case "yaml":
      return host.out(yamlText(view.data));
    case "name":
      return host.out(
        view
          .names()
          .map((name) => `${safeLine(name)}\n`)
          .join(""),
      );
  }
}
