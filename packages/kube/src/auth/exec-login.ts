import type { ExecPlugin } from "../config/kube-config.ts";
import { bearer, type Credentials } from "./credentials.ts";
import { type ExecCredential, parseExecCredential } from "./exec-credential.ts";
import { type PluginDeps, runPlugin } from "./run-plugin.ts";

/** Credentials of an exec plugin, cached until they expire or are refused. */
export interface ExecLogin {
  readonly current: () => Promise<ExecCredential>;
  /** Drops the cached credentials if they are the refused ones. */
  readonly renew: (refused: Credentials) => void;
}

export function execLogin(plugin: ExecPlugin, origin: string, deps: PluginDeps): ExecLogin {
  const name = `the credential plugin ${plugin.command} (${origin})`;
  let known: ExecCredential | undefined;
  let running: Promise<ExecCredential> | undefined;
  const isGood = ({ expiresAtMs = Number.POSITIVE_INFINITY }: ExecCredential) =>
    deps.clock.wallMs() < expiresAtMs;
  const run = async (): Promise<ExecCredential> => {
    try {
      known = parseExecCredential(await runPlugin(plugin, name, deps), plugin, name);
      return known;
    } finally {
      running = undefined;
    }
  };
  return {
    current: () => {
      if (known !== undefined && isGood(known)) return Promise.resolve(known);
      // Concurrent calls share one run.
      running ??= run();
      return running;
    },
    renew: (refused) => {
      if (known !== undefined && isPartOf(known, refused)) known = undefined;
    },
  };
}

/** True when the refused credentials include those of the plugin. */
function isPartOf({ token, cert }: ExecCredential, shown: Credentials): boolean {
  const isToken = token === undefined || shown.authorization === bearer(token);
  return isToken && (cert === undefined || shown.cert === cert);
}
