/** The longest block; the longest instruction is far below. */
const MAX_BLOCK_LENGTH = 1024 * 1024;
const BYTE_ORDER_MARK = "\uFEFF";

/** The text between two empty lines of an event stream. */
export interface EventBlock {
  readonly name: string;
  /** Undefined: a keep-alive, perhaps with an ID. */
  readonly data: string | undefined;
  readonly id: string | undefined;
}

/** Parses a stream of server-sent events in pieces of any size. */
export interface EventParser {
  /** The blocks that this piece completes; throws when one is too long. */
  readonly push: (piece: string) => EventBlock[];
}

interface OpenBlock {
  name: string;
  data: string[];
  id: string | undefined;
  length: number;
}

export function createEventParser(): EventParser {
  let rest = "";
  let isFirst = true;
  let block: OpenBlock = emptyBlock();

  const takeLine = (line: string): EventBlock | undefined => {
    if (line !== "") {
      block.length += line.length;
      if (block.length > MAX_BLOCK_LENGTH)
        throw new Error(`an event of more than ${MAX_BLOCK_LENGTH} characters came`);
      addLine(block, line);
      return undefined;
    }
    const { name, data, id, length } = block;
    block = emptyBlock();
    return length === 0 ? undefined : { name, data: data.length === 0 ? undefined : data.join("\n"), id };
  };

  return {
    push: (piece) => {
      let text = rest + piece;
      if (isFirst && text !== "") {
        isFirst = false;
        if (text.startsWith(BYTE_ORDER_MARK)) text = text.slice(1);
      }
      const { lines, left } = splitLines(text);
      rest = left;
      if (rest.length > MAX_BLOCK_LENGTH)
        throw new Error(`a line of more than ${MAX_BLOCK_LENGTH} characters came`);
      return lines.flatMap((line) => takeLine(line) ?? []);
    },
  };
}

function emptyBlock(): OpenBlock {
  return { name: "message", data: [], id: undefined, length: 0 };
}

/** Lines end with LF, CR or CRLF. A CR at the end of a piece waits for the next one. */
function splitLines(text: string): { readonly lines: string[]; readonly left: string } {
  const isOpen = text.endsWith("\r");
  const lines = (isOpen ? text.slice(0, -1) : text).split(/\r\n|\n|\r/);
  const last = lines.pop() ?? "";
  return { lines, left: isOpen ? `${last}\r` : last };
}

function addLine(block: OpenBlock, line: string): void {
  const colon = line.indexOf(":");
  const field = colon === -1 ? line : line.slice(0, colon);
  const text = colon === -1 ? "" : line.slice(colon + 1);
  const value = text.startsWith(" ") ? text.slice(1) : text;
  if (field === "data") block.data.push(value);
  else if (field === "event") block.name = value;
  else if (field === "id" && !value.includes("\0")) block.id = value;
}
