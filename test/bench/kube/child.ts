import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import type { Command, Replies } from "./messages.ts";

export interface ChildOptions {
  readonly file: string;
  readonly nodeFlags?: readonly string[];
  readonly cpu: number | undefined;
}

/** A process of the bench. */
export interface Child {
  readonly pid: number;
  readonly send: (order: Command) => void;
  /** The next answer of that kind; throws when the process ends without giving one. */
  readonly reply: <Kind extends keyof Replies>(kind: Kind) => Promise<Replies[Kind]>;
  readonly stop: () => Promise<void>;
}

export function startChild({ file, nodeFlags = [], cpu }: ChildOptions): Child {
  const child = fork(file, { execArgv: [...nodeFlags], stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const pid = child.pid ?? 0;
  if (cpu !== undefined)
    execFileSync("taskset", ["-a", "-c", "-p", String(cpu), String(pid)], { stdio: "ignore" });
  const ended = once(child, "exit");
  return {
    pid,
    send: (command) => void child.send(command),
    reply: (kind) =>
      new Promise((resolve, reject) => {
        const listen = (message: unknown): void => {
          if (!isAnswer(message, kind)) return;
          child.off("message", listen);
          child.off("exit", gone);
          resolve(message);
        };
        const gone = (): void => reject(new Error(`${file} has ended without saying "${kind}"`));
        child.on("message", listen);
        child.once("exit", gone);
      }),
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}

function isAnswer<Kind extends keyof Replies>(message: unknown, kind: Kind): message is Replies[Kind] {
  return typeof message === "object" && message !== null && "kind" in message && message.kind === kind;
}
