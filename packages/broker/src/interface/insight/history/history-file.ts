import { open, rename, rm } from "node:fs/promises";
import { endianness } from "node:os";
import { crc32 } from "node:zlib";

/** Changes with the form of the file, and with how the machine lays out numbers: any other one is begun afresh. */
const MAGIC = Buffer.from(`resource-broker history 1 ${endianness()}\n`);
const HEADER_BYTES = 10;
const MAX_NAME_BYTES = 255;
/** Twice what a full history takes: nothing larger is one. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Parts per write; the event loop runs other work in between. */
const PARTS_AT_ONCE = 64;

/** A named series, as bytes. */
export interface Part {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Writes the parts beside the file and puts them in its place: a process that dies meanwhile leaves the old one. */
export async function writeHistoryFile(file: string, parts: Iterable<() => Part>): Promise<void> {
  const unfinished = `${file}.unfinished`;
  try {
    await writeParts(unfinished, parts);
    await rename(unfinished, file);
  } catch (error) {
    // Remove the partial file, because it uses space on a full disk.
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function writeParts(path: string, parts: Iterable<() => Part>): Promise<void> {
  const handle = await open(path, "w", 0o600);
  try {
    let waiting: Buffer[] = [MAGIC];
    for (const part of parts) {
      waiting.push(encoded(part()));
      if (waiting.length < PARTS_AT_ONCE) continue;
      // `write` may write only a part on an almost full disk, without an error.
      await handle.appendFile(Buffer.concat(waiting));
      waiting = [];
    }
    await handle.appendFile(Buffer.concat(waiting));
  } finally {
    await handle.close();
  }
}

/** Undefined: there is no file. Throws where it is not one of ours, or damaged. */
export async function readHistoryFile(file: string): Promise<Part[] | undefined> {
  const bytes = await readBounded(file).catch(absent);
  if (bytes === undefined) return undefined;
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error("it is of another version");
  const parts: Part[] = [];
  let offset = MAGIC.length;
  while (offset < bytes.length) {
    const { part, end } = decoded(bytes, offset);
    parts.push(part);
    offset = end;
  }
  return parts;
}

async function readBounded(file: string): Promise<Buffer> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    if (size > MAX_FILE_BYTES) throw new Error("it is too large to be a history");
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** Checksum over the rest, length of the name, length of the figures, name, figures. */
function encoded({ name, bytes }: Part): Buffer {
  const nameBytes = Buffer.from(name);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16LE(nameBytes.length, 4);
  header.writeUInt32LE(bytes.length, 6);
  const whole = Buffer.concat([header, nameBytes, bytes]);
  whole.writeUInt32LE(crc32(whole.subarray(4)), 0);
  return whole;
}

function decoded(bytes: Buffer, offset: number): { readonly part: Part; readonly end: number } {
  if (offset + HEADER_BYTES > bytes.length) throw new Error("it ends too early");
  const nameLength = bytes.readUInt16LE(offset + 4);
  const nameStart = offset + HEADER_BYTES;
  const end = nameStart + nameLength + bytes.readUInt32LE(offset + 6);
  if (nameLength > MAX_NAME_BYTES || end > bytes.length) throw new Error("it ends too early");
  if (crc32(bytes.subarray(offset + 4, end)) !== bytes.readUInt32LE(offset))
    throw new Error("it was changed: its checksum is wrong");
  const name = bytes.toString("utf8", nameStart, nameStart + nameLength);
  return { part: { name, bytes: bytes.subarray(nameStart + nameLength, end) }, end };
}

function absent(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}
