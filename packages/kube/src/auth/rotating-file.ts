import type { Clock, Log, Reloads } from "@resource-broker/runtime";
import { readTextFile } from "../config/read-file.ts";
import type { Material } from "../config/kube-config.ts";

/** How long a read value is used. Kubernetes writes a new token long before the old one expires. */
const REREAD_MS = 60_000;

/** Text from a file that may be replaced while the program runs. */
export interface RotatingText {
  readonly current: () => Promise<string>;
  /** Reads it again now. */
  readonly renew: () => Promise<void>;
}

export interface RotationDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Receives files that cannot be read again. */
  readonly reloads?: Pick<Reloads, "source">;
}

/** Name of the credentials among the reload sources. */
export const CREDENTIALS = "kubernetes-credentials";

export function rotatingText(material: Material, namedBy: string, deps: RotationDeps): RotatingText {
  if (material.kind === "file") return rotatingFile(material.path, namedBy, deps);
  return { current: () => Promise.resolve(material.text), renew: () => Promise.resolve() };
}

/** A file that is read again at most once a minute. While it cannot be read, its last content is used. */
function rotatingFile(path: string, namedBy: string, { clock, log, reloads }: RotationDeps): RotatingText {
  const report = reloads?.source(CREDENTIALS);
  let known: { readonly text: string; readonly at: number } | undefined;
  const renew = async (): Promise<void> => {
    const at = clock.monotonicMs();
    try {
      const text = await readTextFile(path, namedBy);
      const isEmpty = text.trim() === "";
      // A writer that replaces the content in place truncates the file first.
      known = { text: isEmpty ? (known?.text ?? text) : text, at };
      report?.(isEmpty ? `${path} is empty` : undefined);
    } catch (error) {
      if (known === undefined) throw error;
      known = { ...known, at };
      report?.(error instanceof Error ? error.message : String(error));
      log.warn(
        { path, problem: String(error) },
        "cannot read the credentials again; the old ones stay in use",
      );
    }
  };
  return {
    renew,
    current: async () => {
      if (known === undefined || clock.monotonicMs() - known.at >= REREAD_MS) await renew();
      return known?.text ?? "";
    },
  };
}
