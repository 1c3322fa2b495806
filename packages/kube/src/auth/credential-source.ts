import { Fault } from "@resource-broker/contract";
import type { KubeConfig, Login } from "../config/kube-config.ts";
import { bearer, type Credentials, type CredentialSource, isSame } from "./credentials.ts";
import { execLogin } from "./exec-login.ts";
import { type RotatingText, type RotationDeps, rotatingText } from "./rotating-file.ts";
import type { PluginDeps } from "./run-plugin.ts";

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
