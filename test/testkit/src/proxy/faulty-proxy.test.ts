import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { type FaultyProxy, startFaultyProxy } from "./faulty-proxy.ts";

/** A server that answers every piece with the same in capitals, and a proxy before it. */
async function proxied(): Promise<{ proxy: FaultyProxy; heard: string[]; client: () => Promise<Socket> }> {
  const received: string[] = [];
  const server = createServer((socket) => {
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      received.push(text);
      socket.write(text.toUpperCase());
    });
    socket.on("error", () => undefined);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy = await startFaultyProxy({ port: (server.address() as AddressInfo).port });
  onTestFinished(async () => {
    await proxy.close();
    server.close();
  });
  const client = async (): Promise<Socket> => {
    const socket = connect(proxy.port, "127.0.0.1").setEncoding("utf8");
    socket.on("error", () => undefined);
    await once(socket, "connect");
    return socket;
  };
  return { proxy, heard: received, client };
}

async function nextText(socket: Socket): Promise<unknown> {
  const [text] = (await once(socket, "data")) as [unknown];
  return text;
}

async function failure(socket: Socket): Promise<unknown> {
  const [error] = (await once(socket, "error")) as [unknown];
  return error;
}

test("passes bytes on both ways and counts them", async () => {
  const { proxy, client } = await proxied();
  const socket = await client();
  socket.write("hello");
  expect(await nextText(socket)).toBe("HELLO");
  expect(proxy.bytes()).toEqual({ sent: 5, received: 5 });
  expect(proxy.connections()).toEqual({ open: 1, made: 1 });
});

test("breaks every connection, and lets new ones through", async () => {
  const { proxy, client } = await proxied();
  const socket = await client();
  socket.write("a");
  await nextText(socket);
  const broken = failure(socket);
  proxy.cut();
  expect(await broken).toMatchObject({ code: "ECONNRESET" });
  const again = await client();
  again.write("b");
  expect(await nextText(again)).toBe("B");
});

test("loses an answer after the server has heard the question", async () => {
  const { proxy, heard: received, client } = await proxied();
  const socket = await client();
  socket.write("warm");
  await nextText(socket);
  const broken = failure(socket);
  const lost = proxy.loseNextReply();
  socket.write("question");
  await lost;
  expect(await broken).toMatchObject({ code: "ECONNRESET" });
  expect(received).toEqual(["warm", "question"]);
});

test("holds everything back until it continues", async () => {
  const { proxy, heard: received, client } = await proxied();
  const socket = await client();
  socket.write("warm");
  await nextText(socket);
  proxy.pause();
  const answer = nextText(socket);
  socket.write("question");
  await new Promise((resolve) => setImmediate(resolve));
  expect(received).toEqual(["warm"]);
  proxy.resume();
  expect(await answer).toBe("QUESTION");
});

test("holds answers back, and lets questions through", async () => {
  const { proxy, heard: received, client } = await proxied();
  const socket = await client();
  socket.write("warm");
  await nextText(socket);
  proxy.holdReplies();
  const answer = nextText(socket);
  socket.write("question");
  await vi.waitFor(() => expect(received).toEqual(["warm", "question"]), { timeout: 20_000 });
  expect(proxy.bytes()).toEqual({ sent: 12, received: 4 });
  proxy.resume();
  expect(await answer).toBe("QUESTION");
});

test("passes on later, in the same order", async () => {
  const { proxy, client } = await proxied();
  proxy.delay(5);
  const socket = await client();
  socket.write("one ");
  await new Promise((resolve) => setImmediate(resolve));
  socket.write("two");
  let text = "";
  while (text.length < 7) text += String(await nextText(socket));
  expect(text).toBe("ONE TWO");
});

test("refuses new connections until it admits them again", async () => {
  const { proxy, client } = await proxied();
  proxy.refuse();
  const refused = connect(proxy.port, "127.0.0.1");
  expect(await failure(refused)).toMatchObject({ code: "ECONNRESET" });
  proxy.admit();
  const socket = await client();
  socket.write("a");
  expect(await nextText(socket)).toBe("A");
});
