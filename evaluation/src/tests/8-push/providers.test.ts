import { expect, test } from "vitest";
import type { Connection } from "../../measure/load/connection.ts";
import { listen } from "./providers.ts";

/** A stream that says what the test says. */
function fakeStream(): { readonly connection: Connection; readonly say: (text: string) => void } {
  let onChunk: (chunk: Buffer) => void = () => undefined;
  const connection: Connection = {
    clusterId: "paris",
    send: () => Promise.reject(new Error("nobody asks")),
    stream: (_, listener) => {
      onChunk = listener;
    },
    isClosed: () => false,
    close: () => undefined,
  };
  return { connection, say: (text) => onChunk(Buffer.from(text)) };
}

test("an instruction is heard wherever it is cut in two, and nothing else is", () => {
  const event = 'event: instruction\ndata: {"id":"rsv-rome-1","requesterID":"rome"}\n\n';
  for (let cut = 1; cut < event.length; cut++) {
    const ids = new Set<string>();
    const { connection, say } = fakeStream();
    listen(connection, (id) => void ids.add(id));
    say(': heartbeat\n\nevent: capacity\ndata: {"id":"no"}\n\n');
    say(event.slice(0, cut));
    say(event.slice(cut));
    expect([...ids]).toEqual(["rsv-rome-1"]);
  }
});
