import { decodeHere } from "./decode-message.ts";
import { MAGIC, noMagic, RAW_TAG, readEnvelopeField } from "./envelope.ts";
import type { MessageFields } from "./fields.ts";
import {
  type Cursor,
  cursorOver,
  enter,
  LENGTH_DELIMITED,
  malformed,
  readUint,
  wrongWireType,
} from "./wire.ts";

interface FieldSplitterOptions {
  /** The tag of the one field that is entered: its own fields are handed over instead of it. */
  readonly openTag: number;
  readonly onOpen: () => void;
  /** A complete field from its tag to its end. The bytes are valid until this returns. */
  readonly onField: (bytes: Uint8Array, start: number, end: number) => void;
}

interface FieldSplitter {
  readonly push: (chunk: Uint8Array) => void;
  /** True: the fields handed over are those of the field that was entered. */
  readonly isOpen: () => boolean;
  /** True: all received bytes were delivered. */
  readonly isWhole: () => boolean;
}

/** A tag and a length, of five bytes each at most. */
const LONGEST_HEADER = 10;
/** No object of Kubernetes has a tenth of it. */
const LARGEST_FIELD = 16 * 1024 * 1024;
const FIRST_ROOM = 16 * 1024;

/**
 * Cuts a message that arrives in chunks into its fields, all of which must be length-delimited. A field within one
 * chunk is handed over in place; one that is spread over several is put together in memory that is used again, so
 * that reading takes as much memory as the largest field and not as the message.
 */
function fieldSplitter({ openTag, onOpen, onField }: FieldSplitterOptions): FieldSplitter {
  let held = Buffer.allocUnsafeSlow(FIRST_ROOM);
  let heldLength = 0;
  /** How many bytes were handed over, and where in that count the open field ends. */
  let offset = 0;
  let openEnd: number | undefined;

  /** Size of the field, or of its header for the field that is entered; undefined: more bytes are needed. */
  function sizeAt(bytes: Uint8Array, start: number, end: number): number | undefined {
    if (!holdsHeader(bytes, start, end)) return undefined;
    const cursor = cursorOver(bytes, start, end);
    const tag = readUint(cursor);
    if ((tag & 7) !== LENGTH_DELIMITED) throw wrongWireType(cursor, tag);
    const length = readUint(cursor);
    const headerSize = cursor.at - start;
    if (openEnd === undefined && tag === openTag) return headerSize;
    if (length > LARGEST_FIELD) throw malformed(cursor, `${length} bytes are announced for one field`);
    if (openEnd !== undefined && offset + headerSize + length > openEnd) {
      throw malformed(cursor, "a field ends behind the message it is in");
    }
    return headerSize + length;
  }

  function handOver(bytes: Uint8Array, start: number, end: number): void {
    offset += end - start;
    const cursor = cursorOver(bytes, start, end);
    if (openEnd === undefined && readUint(cursor) === openTag) {
      openEnd = offset + readUint(cursor);
      onOpen();
    } else onField(bytes, start, end);
    if (openEnd === offset) openEnd = undefined;
  }

  function hold(bytes: Uint8Array): void {
    if (heldLength + bytes.length > held.length) {
      const larger = Buffer.allocUnsafeSlow(2 * (heldLength + bytes.length));
      held.copy(larger, 0, 0, heldLength);
      held = larger;
    }
    held.set(bytes, heldLength);
    heldLength += bytes.length;
  }

  /** Completes the field whose beginning is held; returns how much of the chunk that took. */
  function complete(chunk: Uint8Array): number {
    let at = 0;
    while (at < chunk.length) {
      const size = sizeAt(held, 0, heldLength);
      const part = chunk.subarray(at, at + (size === undefined ? 1 : size - heldLength));
      hold(part);
      at += part.length;
      if (heldLength !== (size ?? sizeAt(held, 0, heldLength))) continue;
      const whole = heldLength;
      heldLength = 0;
      handOver(held, 0, whole);
      break;
    }
    return at;
  }

  return {
    push(chunk) {
      let at = heldLength > 0 ? complete(chunk) : 0;
      while (at < chunk.length) {
        const size = sizeAt(chunk, at, chunk.length);
        if (size === undefined || at + size > chunk.length) return hold(chunk.subarray(at));
        handOver(chunk, at, at + size);
        at += size;
      }
    },
    isOpen: () => openEnd !== undefined,
    isWhole: () => heldLength === 0 && openEnd === undefined,
  };
}

/** True when tag and length are complete, or too long, so that reading them fails. */
function holdsHeader(bytes: Uint8Array, start: number, end: number): boolean {
  const last = Math.min(end, start + LONGEST_HEADER);
  let numbers = 0;
  for (let at = start; at < last; at++) {
    if ((bytes[at] ?? 0) < 0x80) numbers += 1;
    if (numbers === 2) return true;
  }
  return end - start >= LONGEST_HEADER;
}

export interface ListPage {
  readonly resourceVersion: string;
  /** Where the next page begins; "" after the last. */
  readonly continue: string;
  readonly count: number;
}

/** Takes the bytes of a page as they arrive. */
export interface ListPageReader {
  /** The bytes may be used again as soon as this returns. */
  readonly push: (chunk: Uint8Array) => void;
  /** There are no more; `malformed` when the page is not whole. */
  readonly end: () => ListPage;
}

const METADATA_TAG = (1 << 3) | LENGTH_DELIMITED;
const ITEM_TAG = (2 << 3) | LENGTH_DELIMITED;

const LIST_METADATA: MessageFields = {
  2: { name: "resourceVersion", kind: "string", isUnique: true },
  3: { name: "continue", kind: "string", isUnique: true },
};

/**
 * Reads one page of a list while it arrives: each item is decoded and handed over as soon as it is whole, so that
 * neither the page nor more than one item is ever in memory.
 */
export function listPageReader<T>(fields: MessageFields, each: (item: T) => void): ListPageReader {
  let metadata: Partial<ListPage> = {};
  let count = 0;
  let kind = "";
  let magicSeen = 0;

  const splitter = fieldSplitter({
    openTag: RAW_TAG,
    onOpen: () => checkKind(kind),
    onField: (bytes, start, end) => {
      const cursor = cursorOver(bytes, start, end);
      const tag = readUint(cursor);
      if (!splitter.isOpen()) kind = readEnvelopeField(cursor, tag) ?? kind;
      else if (tag === ITEM_TAG) {
        enter(cursor);
        each(decodeHere<T>(fields, cursor));
        count += 1;
      } else if (tag === METADATA_TAG) {
        enter(cursor);
        metadata = decodeHere(LIST_METADATA, cursor);
      }
    },
  });

  function readMagic(chunk: Uint8Array): Uint8Array {
    const part = chunk.subarray(0, MAGIC.length - magicSeen);
    for (const byte of part) {
      if (byte !== MAGIC[magicSeen]) throw noMagic(cursorOver(chunk));
      magicSeen += 1;
    }
    return chunk.subarray(part.length);
  }

  return {
    push: (chunk) => splitter.push(magicSeen === MAGIC.length ? chunk : readMagic(chunk)),
    end() {
      const nothing = cursorOver(Uint8Array.of());
      if (magicSeen < MAGIC.length) throw noMagic(nothing);
      if (!splitter.isWhole()) throw malformed(nothing, "the list is incomplete");
      checkKind(kind);
      return { resourceVersion: metadata.resourceVersion ?? "", continue: metadata.continue ?? "", count };
    },
  };
}

/** The same for a page that is there already. */
export function readListPage<T>(bytes: Uint8Array, fields: MessageFields, each: (item: T) => void): ListPage {
  const reader = listPageReader(fields, each);
  reader.push(bytes);
  return reader.end();
}

function checkKind(kind: string): void {
  if (kind.endsWith("List")) return;
  const place: Cursor = cursorOver(Uint8Array.of());
  throw malformed(place, `there is a ${kind || "nameless kind"} where a list should be`);
}
