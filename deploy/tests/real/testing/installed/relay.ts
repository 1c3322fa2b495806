import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Stands where pods expect a Service, and passes every connection on to what is behind it. */
export interface Relay extends Endpoint {
  readonly close: () => Promise<void>;
}

/** On that address, which must be one of this machine; port 0: any. */
export async function relay(at: Endpoint, to: Endpoint): Promise<Relay> {
  const open = new Set<Socket>();
  const kept = (socket: Socket, other: Socket): void => {
    open.add(socket);
    socket.on("error", () => other.destroy());
    socket.on("close", () => {
      open.delete(socket);
      other.destroy();
    });
  };
  const server = createServer((near) => {
    const far = connect(to);
    kept(near, far);
    kept(far, near);
    near.pipe(far).pipe(near);
  });
  server.listen(at);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    host: at.host,
    port,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
