import { decodeHere } from "./decode-message.ts";
import { MAGIC, noMagic, RAW_TAG, readEnvelopeField } from "./envelope.ts";
import { fieldSplitter } from "./field-splitter.ts";
import type { MessageFields } from "./fields.ts";
import { type Cursor, cursorOver, enter, LENGTH_DELIMITED, malformed, readUint } from "./wire.ts";

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
