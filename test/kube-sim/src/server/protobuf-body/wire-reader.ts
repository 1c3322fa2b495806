import { badRequest } from "../../api/statuses.ts";

/** One field as it stands in a message: a number, or bytes. */
export interface WireField {
  readonly number: number;
  readonly value: bigint | Buffer;
}

const VARINT = 0;
const LENGTH_DELIMITED = 2;
const LONGEST_VARINT = 10;

/** Kubernetes' messages hold nothing but numbers and bytes. */
export function* wireFields(message: Buffer): Generator<WireField> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let length = 0; length < LONGEST_VARINT; length++) {
      const byte = message[at++];
      if (byte === undefined) throw malformed();
      value |= BigInt(byte & 0x7f) << BigInt(7 * length);
      if (byte < 0x80) return value;
    }
    throw malformed();
  };
  while (at < message.length) {
    const tag = Number(varint());
    const number = tag >>> 3;
    if ((tag & 7) === VARINT) yield { number, value: varint() };
    else if ((tag & 7) === LENGTH_DELIMITED) {
      const end = Number(varint()) + at;
      if (end > message.length) throw malformed();
      yield { number, value: message.subarray(at, end) };
      at = end;
    } else throw malformed();
  }
}

export function malformed(): Error {
  return badRequest("the body of the request is not the protobuf it claims to be");
}
