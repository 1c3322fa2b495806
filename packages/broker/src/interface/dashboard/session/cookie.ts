/** The cookie that holds a session's token. No script can read it, and no other site makes a browser send it. */
export interface SessionCookie {
  readonly read: (header: string | undefined) => string | undefined;
  readonly set: (token: string, maxAgeMs: number) => string;
  readonly clear: () => string;
}

/** Sessions take some three hundred characters. */
const MAX_TOKEN_LENGTH = 1024;

/**
 * Browsers keep cookies by host and not by port: with its port in the name, the dashboards of two brokers on one machine
 * do not sign each other out. Over TLS the prefix makes browsers insist on `Secure` and on this very host.
 */
export function sessionCookie(options: {
  readonly isSecure: boolean;
  /** Known once somebody listens. */
  readonly port: () => number;
}): SessionCookie {
  const nameNow = (): string =>
    options.isSecure ? "__Host-broker-dashboard" : `broker-dashboard-${options.port()}`;
  const attributes = `Path=/; HttpOnly; SameSite=Strict${options.isSecure ? "; Secure" : ""}`;
  return {
    read: (header) => {
      const name = nameNow();
      const values = (header ?? "")
        .split(";")
        .map((part) => part.trim())
        .filter((part) => part.startsWith(`${name}=`))
        .map((part) => part.slice(name.length + 1));
      return values.find((value) => value !== "" && value.length <= MAX_TOKEN_LENGTH);
    },
    set: (token, maxAgeMs) => `${nameNow()}=${token}; Max-Age=${Math.floor(maxAgeMs / 1000)}; ${attributes}`,
    clear: () => `${nameNow()}=; Max-Age=0; ${attributes}`,
  };
}
