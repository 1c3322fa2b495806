import { open } from "node:fs/promises";

const PIECE_BYTES = 64 * 1024;
const LINE_END = 10;

/** Gives the lines that a file has gained since it was last asked, at first from a place on; a line that is still being written waits. */
export function followLog(file: string, from: number): () => Promise<readonly string[]> {
  let position = from;
  return async () => {
    const handle = await open(file).catch(() => undefined);
    if (handle === undefined) return [];
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(PIECE_BYTES), 0, PIECE_BYTES, position);
      const end = buffer.subarray(0, bytesRead).lastIndexOf(LINE_END) + 1;
      // A line longer than a piece is no line that anybody reads.
      position += end === 0 && bytesRead === PIECE_BYTES ? bytesRead : end;
      return buffer
        .toString("utf8", 0, end)
        .split("\n")
        .filter((line) => line !== "");
    } finally {
      await handle.close();
    }
  };
}
