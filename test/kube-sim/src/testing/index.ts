export { ORACLE_CASES } from "../crd/testing/oracle-cases.ts";
export { projection } from "../protobuf/testing/projection.ts";
export type { KubectlCommand } from "./kubectl-command.ts";
export { KUBECTL_COMMANDS } from "./kubectl-commands.ts";
