import { Fault, type FaultCode } from "@resource-broker/base";
import { describeFailure, EXIT } from "@resource-broker/runtime";

/** Flags that set a port; the message about a port in use names them. */
const PORT_FLAGS = ["metrics-bind-address", "health-probe-bind-address"];

/** Problems that a person must fix before a restart helps: flags, certificates, kubeconfig. */
const WRONG_INPUT: ReadonlySet<FaultCode> = new Set(["invalid", "no-certificate"]);

export function exitCodeOf(error: unknown): number {
  return error instanceof Fault && WRONG_INPUT.has(error.code) ? EXIT.usage : EXIT.failure;
}

/** One line, whatever was thrown. */
export function describeEnd(error: unknown): string {
  return describeFailure(error, PORT_FLAGS).replace(/\s*\n\s*/g, " ");
}
