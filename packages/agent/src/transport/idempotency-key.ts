import { Fault, LIMIT } from "@resource-broker/contract";

/** Throws when a key cannot be sent in a header or is longer than the broker allows. */
export function checkKey(key: string): void {
  const most = LIMIT.idempotencyKeyLength;
  if (key.length <= most && /^[!-~]+$/.test(key)) return;
  throw new Fault("invalid", `the key ${JSON.stringify(key)} must be 1 to ${most} visible ASCII characters`);
}
