import { Fault } from "@resource-broker/contract";

/** The length of what follows, most significant byte first. */
const HEADER_BYTES = 4;
/** Kubernetes' own clients read no larger frame; an object of etcd has a tenth of it at most. */
const LARGEST_FRAME = 16 * 1024 * 1024;

interface FrameSplitter {
  readonly push: (chunk: Uint8Array) => void;
}

/**
 * Cuts a stream into its frames, wherever the chunks end. A frame that arrives within one chunk is handed over in
 * place; only one that is spread over several is put together in memory of its own.
 */
export function frameSplitter(
  onFrame: (bytes: Uint8Array, start: number, end: number) => void,
): FrameSplitter {
  const header = new Uint8Array(HEADER_BYTES);
  let headerFilled = 0;
  let body: Buffer | undefined;
  let bodyFilled = 0;

  function readHeader(chunk: Uint8Array, start: number): number {
    const part = chunk.subarray(start, start + HEADER_BYTES - headerFilled);
    header.set(part, headerFilled);
    headerFilled += part.length;
    return start + part.length;
  }

  function bodyLength(): number {
    const length = new DataView(header.buffer).getUint32(0);
    if (length <= LARGEST_FRAME) return length;
    const limit = `the largest is ${LARGEST_FRAME}`;
    throw new Fault("malformed", `the API server announces a watch event of ${length} bytes; ${limit}`);
  }

  function readBody(chunk: Uint8Array, start: number): number {
    const length = body?.length ?? bodyLength();
    if (body === undefined && chunk.length - start >= length) {
      headerFilled = 0;
      onFrame(chunk, start, start + length);
      return start + length;
    }
    body ??= Buffer.allocUnsafeSlow(length);
    const part = chunk.subarray(start, start + length - bodyFilled);
    body.set(part, bodyFilled);
    bodyFilled += part.length;
    if (bodyFilled === length) finish(body);
    return start + part.length;
  }

  function finish(whole: Buffer): void {
    headerFilled = 0;
    body = undefined;
    bodyFilled = 0;
    onFrame(whole, 0, whole.length);
  }

  return {
    push(chunk) {
      let at = 0;
      while (at < chunk.length) {
        if (headerFilled < HEADER_BYTES) at = readHeader(chunk, at);
        if (headerFilled === HEADER_BYTES) at = readBody(chunk, at);
      }
    },
  };
}
