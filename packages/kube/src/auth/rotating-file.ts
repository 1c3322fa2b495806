import type { Log, MachineTime, Reloads } from "@resource-broker/runtime";
import { readTextFile } from "../config/read-file.ts";
import type { Material } from "../config/kube-config.ts";

/** How long what was read is taken for true. Kubernetes writes a new token long before the old one ends. */
const REREAD_MS = 60_000;

/** Text that somebody else may replace while we run. */
export interface RotatingText {
  readonly current: () => Promise<string>;
  /** Looks again at once. */
  readonly renew: () => Promise<void>;
}

export interface RotationDeps {
  readonly machine: MachineTime;
  readonly log: Log;
  /** Told of files that cannot be read again. */
  readonly reloads?: Pick<Reloads, "source">;
}

/** How credentials are called among what is read again. */
export const CREDENTIALS = "kubernetes-credentials";

export function rotatingText(material: Material, namedBy: string, deps: RotationDeps): RotatingText {
  if (material.kind === "file") return rotatingFile(material.path, namedBy, deps);
  return { current: () => Promise.resolve(material.text), renew: () => Promise.resolve() };
}

/** A file that is read again once a minute at most. While it cannot be read, what it held last stays in force. */
function rotatingFile(path: string, namedBy: string, { machine, log, reloads }: RotationDeps): RotatingText {
  const report = reloads?.source(CREDENTIALS);
  let known: { readonly text: string; readonly at: number } | undefined;
  const renew = async (): Promise<void> => {
    const at = machine.monotonicMs();
    try {
      const text = await readTextFile(path, namedBy);
      const isEmpty = text.trim() === "";
      // Somebody who writes in place empties the file first.
      known = { text: isEmpty ? (known?.text ?? text) : text, at };
      report?.(isEmpty ? `${path} is empty` : undefined);
    } catch (error) {
      if (known === undefined) throw error;
      known = { ...known, at };
      report?.(error instanceof Error ? error.message : String(error));
      log.warn({ path, problem: String(error) }, "credentials not read again; the old ones stay in use");
    }
  };
  return {
    renew,
    current: async () => {
      if (known === undefined || machine.monotonicMs() - known.at >= REREAD_MS) await renew();
      return known?.text ?? "";
    },
  };
}
