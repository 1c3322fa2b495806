import type { CommandGroup } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";

const SHELLS = [
  { name: "bash", load: "source <(brokerctl completion bash)", file: "~/.bashrc" },
  { name: "zsh", load: "source <(brokerctl completion zsh)", file: "~/.zshrc, after compinit" },
  { name: "fish", load: "brokerctl completion fish | source", file: "~/.config/fish/config.fish" },
] as const;

/** The scripts are made from the whole table, which knows this command too: so it is handed in late. */
export function completionCommands(root: () => CommandGroup): CommandGroup {
  return {
    name: "completion",
    summary: "Prints a script that makes your shell complete commands, options and their values",
    commands: SHELLS.map(({ name, load, file }) =>
      defineCommand({
        name,
        summary: `Prints the script for ${name}`,
        details: `For this shell:      ${load}\nFor every new one:   the same line in ${file}`,
        options: {},
        examples: [load],
        load: async () => (await import("./completion.ts")).completion(root(), name),
      }),
    ),
  };
}
