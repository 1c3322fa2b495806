/** The parts of a protobuf message, for tests that need one no encoder would write. */
export type Bytes = readonly number[];

export function varint(value: bigint | number): Bytes {
  const bits = BigInt.asUintN(64, BigInt(value));
  return bits < 128n ? [Number(bits)] : [Number(bits & 127n) + 128, ...varint(bits >> 7n)];
}

export const number = (field: number, value: bigint | number): Bytes => [
  ...varint(field * 8),
  ...varint(value),
];

export const message = (field: number, ...parts: readonly Bytes[]): Bytes => {
  const content = parts.flat();
  return [...varint(field * 8 + 2), ...varint(content.length), ...content];
};

export const text = (field: number, value: string): Bytes => message(field, [...Buffer.from(value)]);

/** As Kubernetes sends it: `k8s`, zero, and the wrapping with kind and message. */
export const wrapped = (kind: string, ...parts: readonly Bytes[]): Bytes => [
  ...Buffer.from("k8s\0"),
  ...message(1, text(1, "v1"), text(2, kind)),
  ...message(2, ...parts),
];

/** One frame of a watch. */
export function frame(...parts: readonly Bytes[]): Bytes {
  const content = parts.flat();
  const header = Buffer.alloc(4);
  header.writeUInt32BE(content.length);
  return [...header, ...content];
}
