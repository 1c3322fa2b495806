export type { KubectlCommand } from "./kubectl-command.ts";
export { KUBECTL_COMMANDS } from "./kubectl-commands.ts";
