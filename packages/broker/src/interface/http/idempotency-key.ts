import { Fault, HEADER, LIMIT } from "@resource-broker/contract";

const VISIBLE = /^[\x21-\x7e]+$/;

/** Checks a key; Node joins a header that is sent twice by a comma and a space, which no key may hold. */
export function checkKey(key: string, where: string = HEADER.idempotencyKey): string {
  if (key.length <= LIMIT.idempotencyKeyLength && VISIBLE.test(key)) return key;
  throw new Fault(
    "invalid",
    `${where} must be one key of 1 to ${LIMIT.idempotencyKeyLength} visible ASCII characters without spaces`,
  );
}
