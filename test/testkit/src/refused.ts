import { ok, rejects, strictEqual } from "node:assert";
import { Fault, type FaultCode } from "@resource-broker/base";

/** Fails unless the call is refused with this code, in words that match. */
export async function refused(
  call: Promise<unknown>,
  code: FaultCode,
  ...says: readonly RegExp[]
): Promise<Fault> {
  let fault: Fault | undefined;
  await rejects(call, (error) => {
    ok(error instanceof Fault, String(error));
    strictEqual(error.code, code, error.message);
    for (const pattern of says) ok(pattern.test(error.message), `"${error.message}" must match ${pattern}`);
    fault = error;
    return true;
  });
  ok(fault !== undefined);
  return fault;
}
