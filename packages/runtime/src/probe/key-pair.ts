import { join } from "node:path";
import { createSecureContext } from "node:tls";
import type { MachineTime } from "../time/machine-time.ts";
import { watchFolder } from "../certificates/folder-watch.ts";
import { readText } from "../files/read-text.ts";
import type { Log } from "../log/log.ts";
import type { ReportReload } from "./reloads.ts";

const SETTLE_MS = 200;
const POLL_MS = 30_000;

export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface KeyPairFiles {
  readonly folder: string;
  readonly certName: string;
  readonly keyName: string;
}

/** A server certificate in files that may be replaced. */
export interface KeyPairSource {
  /** The pair as it is now; `use` gets every later one that fits together. */
  readonly start: (use: (pair: KeyPair) => void) => Promise<KeyPair>;
  readonly stop: () => void;
}

export interface KeyPairDeps {
  readonly machine: Pick<MachineTime, "after">;
  readonly log: Log;
  /** Told of each reload that fails, and of the next one that works. */
  readonly report?: ReportReload;
}

export function keyPairFolder(
  { folder, certName, keyName }: KeyPairFiles,
  { machine, log, report = () => undefined }: KeyPairDeps,
): KeyPairSource {
  let complaint: string | undefined;
  let unwatch = (): void => undefined;

  const load = async (): Promise<KeyPair> => {
    const [cert, key] = await Promise.all([certName, keyName].map((name) => readText(join(folder, name))));
    const pair = { cert: cert ?? "", key: key ?? "" };
    createSecureContext(pair);
    return pair;
  };

  return {
    start: async (use) => {
      let current = await load();
      const look = async (): Promise<void> => {
        try {
          const next = await load();
          complaint = undefined;
          report(undefined);
          if (next.cert === current.cert && next.key === current.key) return;
          current = next;
          use(next);
        } catch (error) {
          const problem = error instanceof Error ? error.message : String(error);
          report(problem);
          if (problem === complaint) return;
          complaint = problem;
          log.warn(
            { folder, problem },
            "certificate of the metrics port not reloaded; the old one stays in use",
          );
        }
      };
      unwatch = watchFolder({
        folder,
        machine,
        settleMs: SETTLE_MS,
        pollMs: POLL_MS,
        look: () => void look(),
      });
      return current;
    },
    stop: () => unwatch(),
  };
}
