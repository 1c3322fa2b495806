import { chown } from "node:fs/promises";
import { runProgram } from "./run-program.ts";

const ACCOUNT = "postgres";

/** PostgreSQL refuses to run as root: then it runs as an account of its own. */
export interface ServerAccount {
  /** What a command begins with. */
  readonly prefix: readonly string[];
  /** Gives a file or folder to it. */
  readonly own: (path: string) => Promise<void>;
}

export async function serverAccount(): Promise<ServerAccount> {
  if (process.getuid?.() !== 0) return { prefix: [], own: () => Promise.resolve() };
  const [uid, gid] = await Promise.all(["-u", "-g"].map((flag) => runProgram(["id", flag, ACCOUNT])));
  return {
    // Not runuser: that stays in between, and a signal would reach it and not the server.
    prefix: ["setpriv", "--reuid", ACCOUNT, "--regid", ACCOUNT, "--init-groups"],
    own: (path) => chown(path, Number(uid), Number(gid)),
  };
}
