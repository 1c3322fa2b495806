import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

const HOST = "127.0.0.1";

/** A way to a server on the loopback that can be disturbed. It knows bytes, not what they mean. */
export interface FaultyProxy {
  readonly port: number;
  /** Connections that are open now, and how many there were. */
  readonly connections: () => { readonly open: number; readonly made: number };
  /** Bytes that clients have sent and received so far. */
  readonly bytes: () => { readonly sent: number; readonly received: number };
  /** Breaks every open connection. */
  readonly cut: () => void;
  /** Holds back everything, in both directions and on new connections, until `resume`. */
  readonly pause: () => void;
  /** Holds back what the server says, also on new connections, until `resume`: it still hears everything. */
  readonly holdReplies: () => void;
  readonly resume: () => void;
  /**
   * On a connection that is open: passes the next thing a client sends on to the server, and breaks the connection
   * instead of passing the answer back. Resolves when that has happened.
   */
  readonly loseNextReply: () => Promise<void>;
  /** Refuses new connections until `admit`. */
  readonly refuse: () => void;
  readonly admit: () => void;
  readonly close: () => Promise<void>;
}

interface State {
  isPaused: boolean;
  isHoldingReplies: boolean;
  isRefusing: boolean;
  made: number;
  sent: number;
  received: number;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** `armed` until the client speaks, then `asked` until the server does. */
  losing: "no" | "armed" | "asked";
}

export async function startFaultyProxy(target: { readonly port: number }): Promise<FaultyProxy> {
  const state: State = {
    isPaused: false,
    isHoldingReplies: false,
    isRefusing: false,
    made: 0,
    sent: 0,
    received: 0,
  };
  const pairs = new Set<Pair>();
  let onLost = (): void => undefined;

  const breakOff = (pair: Pair): void => {
    pair.client.resetAndDestroy();
    pair.server.destroy();
  };

  const lose = (pair: Pair): void => {
    for (const each of pairs) each.losing = "no";
    breakOff(pair);
    onLost();
  };

  const accept = (client: Socket): void => {
    if (state.isRefusing) {
      client.resetAndDestroy();
      return;
    }
    const server = connect(target.port, HOST);
    const pair: Pair = { client, server, losing: "no" };
    pairs.add(pair);
    state.made += 1;
    pass(client, server, (length) => {
      state.sent += length;
      if (pair.losing === "armed") pair.losing = "asked";
      return true;
    });
    pass(server, client, (length) => {
      if (pair.losing === "asked") {
        lose(pair);
        return false;
      }
      state.received += length;
      return true;
    });
    client.once("close", () => pairs.delete(pair));
    if (state.isPaused) hold(pair);
    if (state.isHoldingReplies) server.pause();
  };

  const listener = createServer({ allowHalfOpen: true }, accept).listen(0, HOST);
  await once(listener, "listening");
  const address = listener.address();
  const cut = (): void => {
    for (const pair of pairs) breakOff(pair);
  };

  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    connections: () => ({ open: pairs.size, made: state.made }),
    bytes: () => ({ sent: state.sent, received: state.received }),
    cut,
    pause: () => {
      state.isPaused = true;
      for (const pair of pairs) hold(pair);
    },
    holdReplies: () => {
      state.isHoldingReplies = true;
      for (const { server } of pairs) server.pause();
    },
    resume: () => {
      state.isPaused = false;
      state.isHoldingReplies = false;
      for (const { client, server } of pairs) {
        client.resume();
        server.resume();
      }
    },
    loseNextReply: () => {
      for (const pair of pairs) pair.losing = "armed";
      return new Promise((resolve) => {
        onLost = resolve;
      });
    },
    refuse: () => {
      state.isRefusing = true;
    },
    admit: () => {
      state.isRefusing = false;
    },
    close: async () => {
      cut();
      listener.close();
      await once(listener, "close");
    },
  };
}

function hold({ client, server }: Pair): void {
  client.pause();
  server.pause();
}

/** Passes on what comes, in order, and the end as well. `mayPass` counts, and may stop it. */
function pass(from: Socket, to: Socket, mayPass: (length: number) => boolean): void {
  from.on("data", (chunk: Uint8Array) => {
    if (mayPass(chunk.length) && !to.destroyed) to.write(chunk);
  });
  from.on("end", () => to.end());
  from.on("error", () => to.destroy());
  from.on("close", (isBroken) => {
    if (isBroken) to.resetAndDestroy();
  });
}
