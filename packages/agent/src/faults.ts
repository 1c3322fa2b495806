import { Fault, type FaultCode } from "@resource-broker/base";

export function isFault(error: unknown, ...codes: readonly FaultCode[]): error is Fault {
  return error instanceof Fault && codes.includes(error.code);
}

/** For `catch`: faults of these codes are expected. */
export function ignoring(...codes: readonly FaultCode[]): (error: unknown) => undefined {
  return (error) => {
    if (!isFault(error, ...codes)) throw error;
  };
}
