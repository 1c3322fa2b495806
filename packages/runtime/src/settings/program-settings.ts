import { choice, text, toggle, type Values } from "@resource-broker/contract";

/** Flags that every program of ours has. */
export const PROGRAM_SETTINGS = {
  "log-format": choice({
    description: "json for machines, pretty for people; auto is pretty on a terminal.",
    defaultValue: "auto",
    choices: ["auto", "json", "pretty"],
  }),
  "log-level": choice({
    description: "The least important lines that are written.",
    defaultValue: "info",
    choices: ["debug", "info", "warn", "error"],
  }),
  config: text({
    description: "File with settings by flag name (YAML or JSON).",
    defaultValue: "",
    placeholder: "FILE",
  }),
  help: toggle({ description: "Print this text.", defaultValue: false }),
  version: toggle({ description: "Print the version.", defaultValue: false }),
};

export type ProgramSettings = Values<typeof PROGRAM_SETTINGS>;

/** Flags of the Go programs that mean nothing here; scripts that pass them go on working. */
export const IGNORED_GO_FLAGS = ["webhook-cert-*", "enable-http2", "zap-*"];
