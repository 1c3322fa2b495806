import { Fault, LIMIT } from "@resource-broker/contract";

/** Throws where a key is nothing that a header can carry and the broker takes. */
export function checkKey(key: string): void {
  const most = LIMIT.idempotencyKeyLength;
  if (key.length <= most && /^[!-~]+$/.test(key)) return;
  throw new Fault("invalid", `the key ${JSON.stringify(key)} must be 1 to ${most} visible ASCII characters`);
}
