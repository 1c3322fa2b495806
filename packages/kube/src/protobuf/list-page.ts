import { decodeHere } from "./decode-message.ts";
import { openEnvelope } from "./envelope.ts";
import type { MessageFields } from "./fields.ts";
import {
  type Cursor,
  cursorOver,
  enter,
  LENGTH_DELIMITED,
  leave,
  malformed,
  readUint,
  skip,
  wrongWireType,
} from "./wire.ts";

export interface ListPage {
  readonly resourceVersion: string;
  /** Where the next page begins; "" after the last. */
  readonly continue: string;
  readonly count: number;
}

const METADATA_TAG = (1 << 3) | LENGTH_DELIMITED;
const ITEM_TAG = (2 << 3) | LENGTH_DELIMITED;

const LIST_METADATA: MessageFields = {
  2: { name: "resourceVersion", kind: "string", isUnique: true },
  3: { name: "continue", kind: "string", isUnique: true },
};

/** Reads one page of a list; each item is handed over before the next is read, so that only one exists at a time. */
export function readListPage<T>(bytes: Uint8Array, fields: MessageFields, each: (item: T) => void): ListPage {
  const cursor = cursorOver(bytes);
  const kind = openEnvelope(cursor);
  if (!kind.endsWith("List"))
    throw malformed(cursor, `there is a ${kind || "nameless kind"} where a list should be`);
  let metadata: Partial<ListPage> = {};
  let count = 0;
  while (cursor.at < cursor.end) {
    const tag = readUint(cursor);
    if (tag === ITEM_TAG) {
      each(readPart<T>(fields, cursor));
      count += 1;
    } else if (tag === METADATA_TAG) metadata = readPart(LIST_METADATA, cursor);
    else if (tag >>> 3 <= 2) throw wrongWireType(cursor, tag);
    else skip(cursor, tag);
  }
  return { resourceVersion: metadata.resourceVersion ?? "", continue: metadata.continue ?? "", count };
}

function readPart<T>(fields: MessageFields, cursor: Cursor): T {
  const outer = enter(cursor);
  const part = decodeHere<T>(fields, cursor);
  leave(cursor, outer);
  return part;
}
