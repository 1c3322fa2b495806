import { join } from "node:path";
import { createSecureContext } from "node:tls";
import type { Clock, Log } from "@resource-broker/base";
import { watchFolder } from "../certificates/folder-watch.ts";
import { readText } from "../files/read-text.ts";
import type { ReportReload } from "./reloads.ts";

const DEBOUNCE_MS = 200;
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
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
  /** Told of each reload that fails, and of the next one that works. */
  readonly report?: ReportReload;
}

export function keyPairFolder(
  { folder, certName, keyName }: KeyPairFiles,
  { clock, log, report = () => undefined }: KeyPairDeps,
): KeyPairSource {
  let lastProblem: string | undefined;
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
      const reload = async (): Promise<void> => {
        try {
          const next = await load();
          lastProblem = undefined;
          report(undefined);
          if (next.cert === current.cert && next.key === current.key) return;
          current = next;
          use(next);
        } catch (error) {
          const problem = error instanceof Error ? error.message : String(error);
          report(problem);
          if (problem === lastProblem) return;
          lastProblem = problem;
          log.warn(
            { folder, problem },
            "certificate of the metrics port not reloaded; the old one stays in use",
          );
        }
      };
      unwatch = watchFolder({
        folder,
        clock,
        debounceMs: DEBOUNCE_MS,
        pollMs: POLL_MS,
        onChange: () => void reload(),
      });
      return current;
    },
    stop: () => unwatch(),
  };
}
