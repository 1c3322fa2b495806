import type { CommandGroup, Run } from "../cli/command.ts";
import { bashScript } from "./bash.ts";
import { type CommandNode, commandNodes } from "./command-nodes.ts";
import { fishScript } from "./fish.ts";
import { zshScript } from "./zsh.ts";

const SCRIPTS: Readonly<Record<"bash" | "zsh" | "fish", (places: readonly CommandNode[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export function completion(root: CommandGroup, shell: keyof typeof SCRIPTS): Run<Record<never, never>> {
  return async (_input, host) => host.out(SCRIPTS[shell](commandNodes(root)));
}
