export interface PemBlock {
  readonly label: string;
  readonly der: Buffer;
}

/** Matches any block content, so that a damaged block fails to parse instead of being skipped. */
const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \1-----/gu;

export function toPem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/gu) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

/** Every block of a PEM file in order; text between the blocks is a comment. */
export function readPem(text: string): PemBlock[] {
  return [...text.matchAll(BLOCK)].map(([, label = "", body = ""]) => ({
    label,
    der: Buffer.from(body, "base64"),
  }));
}

/** The contents of every block with this label, in order. Throws a RangeError when one of them has no beginning or no end. */
export function pemBlocks(text: string, label: string): Buffer[] {
  const blocks = readPem(text).flatMap((block) => (block.label === label ? [block.der] : []));
  const markerCount = (edge: string): number => text.split(`-----${edge} ${label}-----`).length - 1;
  if (markerCount("BEGIN") !== blocks.length || markerCount("END") !== blocks.length) {
    throw new RangeError(`a block of it (-----BEGIN ${label}-----) is cut short`);
  }
  return blocks;
}
