export interface StreamEvent {
  readonly event: string;
  readonly id: string | null;
  readonly data: string;
}

/**
 * Reads server-sent events from pieces of text. EventSource would do it too, but hides the comments that tell a silent
 * connection from a dead one.
 */
export function createEventReader(): (piece: string) => StreamEvent[] {
  let rest = "";
  return (piece) => {
    const blocks = (rest + piece.replaceAll("\r\n", "\n")).split("\n\n");
    rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => {
      const event = readBlock(block);
      return event === undefined ? [] : [event];
    });
  };
}

function readBlock(block: string): StreamEvent | undefined {
  const data: string[] = [];
  let event = "message";
  let id: string | null = null;
  for (const line of block.split("\n")) {
    const [field, value] = readLine(line);
    if (field === "data") data.push(value);
    else if (field === "event") event = value;
    else if (field === "id") id = value;
  }
  return data.length === 0 ? undefined : { event, id, data: data.join("\n") };
}

/** A comment has an empty field name. */
function readLine(line: string): readonly [field: string, value: string] {
  const colon = line.indexOf(":");
  if (colon < 0) return [line, ""];
  const value = line.slice(colon + 1);
  return [line.slice(0, colon), value.startsWith(" ") ? value.slice(1) : value];
}
