import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FakeLiqoctl } from "./fake-liqoctl.ts";

/** A program file that agents in processes of their own can start; what it does is done in this process. */
export interface LiqoctlProgram {
  readonly path: string;
  readonly dispose: () => Promise<void>;
}

/** Hands its arguments over, says what it is told to say, and ends as it is told to. */
const SCRIPT = `
const socket = require("node:net").connect(SOCKET);
let told = "";
socket.setEncoding("utf8").on("data", (text) => { told += text; });
socket.on("end", () => {
  const { code, output } = JSON.parse(told);
  process.exitCode = code;
  (code === 0 ? process.stdout : process.stderr).write(output);
});
socket.write(JSON.stringify(process.argv.slice(2)) + "\\n");
`;

export async function startLiqoctlProgram(liqoctl: Pick<FakeLiqoctl, "run">): Promise<LiqoctlProgram> {
  const folder = await mkdtemp(join(tmpdir(), "liqoctl-"));
  const socketPath = join(folder, "socket");
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    const ended = new AbortController();
    socket.on("error", () => undefined);
    socket.once("close", () => {
      open.delete(socket);
      ended.abort();
    });
    void serve(socket, ended.signal, liqoctl);
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  const path = join(folder, "liqoctl");
  await writeFile(path, `#!${process.execPath}\n${SCRIPT.replace("SOCKET", JSON.stringify(socketPath))}`);
  await chmod(path, 0o755);
  return {
    path,
    dispose: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function serve(socket: Socket, signal: AbortSignal, liqoctl: Pick<FakeLiqoctl, "run">): Promise<void> {
  try {
    const args = JSON.parse(await line(socket)) as string[];
    const end = await liqoctl.run(args, { signal });
    socket.end(JSON.stringify(end));
  } catch (error) {
    socket.end(JSON.stringify({ code: 1, output: `ERRO ${String(error)}\n` }));
  }
}

/** Up to the first line's end: the other side keeps its half open for the answer. */
function line(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let read = "";
    socket.setEncoding("utf8").on("data", (part: string) => {
      read += part;
      if (read.endsWith("\n")) resolve(read);
    });
    socket.once("close", () => reject(new Error("it was ended before it said anything")));
  });
}
