import { type Clock, Fault, type Log } from "@resource-broker/base";
import type { Reloads } from "@resource-broker/runtime";
import type { KubeConfig, Login, Material } from "../config/kube-config.ts";
import { readTextFile } from "../config/load-kube-config.ts";
import { bearer, type CredentialSource, type Credentials, isSame } from "./credentials.ts";
import { execLogin, type PluginDeps } from "./exec-login.ts";

/** How long a read value is used. Kubernetes writes a new token long before the old one expires. */
const REREAD_MS = 60_000;

/** Text from a file that may be replaced while the program runs. */
interface RotatingText {
  readonly current: () => Promise<string>;
  readonly renew: () => Promise<void>;
}

interface RotationDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Receives files that cannot be read again. */
  readonly reloads?: Pick<Reloads, "source">;
}

/** Name of the credentials among the reload sources. */
export const CREDENTIALS = "kubernetes-credentials";

export type CredentialDeps = RotationDeps & PluginDeps;

/** One source that contributes to the credentials. */
interface Part {
  readonly current: () => Promise<Credentials>;
  readonly renew: (refused: Credentials) => Promise<void> | void;
}

/** Allowed characters of the header; a line break would start another header. */
const PRINTABLE = /^Bearer [\x21-\x7e]+$/u;

/** The credentials of a configuration. None are sent over plain HTTP. */
export function credentialSource(config: KubeConfig, deps: CredentialDeps): CredentialSource {
  const parts = config.server.startsWith("https:") ? partsOf(config, deps) : [];
  const current = async (): Promise<Credentials> => {
    const found = await Promise.all(parts.map((part) => part.current()));
    return found.reduce((all, one) => ({ ...all, ...one }), {});
  };
  return {
    current,
    renew: async (refused) => {
      for (const part of parts) await part.renew(refused);
      const newer = await current();
      return isSame(refused, newer) ? undefined : newer;
    },
  };
}

function partsOf({ trust, user, origin }: KubeConfig, deps: CredentialDeps): Part[] {
  const { certificate, login } = user;
  const parts: Part[] = [];
  if (trust.ca !== undefined) parts.push(textPart("ca", rotatingText(trust.ca, origin, deps)));
  if (certificate !== undefined) {
    parts.push(textPart("cert", rotatingText(certificate.cert, origin, deps)));
    parts.push(textPart("key", rotatingText(certificate.key, origin, deps)));
  }
  if (login !== undefined) parts.push(loginPart(login, origin, deps));
  return parts;
}

function textPart(name: "ca" | "cert" | "key", text: RotatingText): Part {
  return { current: async () => ({ [name]: await text.current() }), renew: () => text.renew() };
}

function loginPart(login: Login, origin: string, deps: CredentialDeps): Part {
  switch (login.kind) {
    case "token":
      return tokenPart(rotatingText(login.token, origin, deps), origin);
    case "password":
      return fixedPart(`${login.username}:${login.password}`);
    case "plugin": {
      const { current, renew } = execLogin(login.plugin, origin, deps);
      return {
        current: async () => {
          const { token, cert, key } = await current();
          return {
            ...(token === undefined ? {} : { authorization: checked(token, origin) }),
            ...(cert === undefined || key === undefined ? {} : { cert, key }),
          };
        },
        renew,
      };
    }
  }
}

function tokenPart(text: RotatingText, origin: string): Part {
  return {
    current: async () => ({ authorization: checked(await text.current(), origin) }),
    renew: () => text.renew(),
  };
}

function fixedPart(userAndPassword: string): Part {
  const authorization = `Basic ${Buffer.from(userAndPassword).toString("base64")}`;
  return { current: () => Promise.resolve({ authorization }), renew: () => undefined };
}

function checked(token: string, origin: string): string {
  const header = bearer(token);
  if (PRINTABLE.test(header)) return header;
  throw new Fault("invalid", `the token of ${origin} is empty or not printable: get a new one`);
}

function rotatingText(material: Material, namedBy: string, deps: RotationDeps): RotatingText {
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
