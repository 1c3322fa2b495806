/** What we show the API server, and what it must show us, at one moment. */
export interface Credentials {
  /** The Authorization header. */
  readonly authorization?: string;
  /** PEM. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Where credentials come from; they may be others at any time. */
export interface CredentialSource {
  readonly current: () => Promise<Credentials>;
  /** Looks again at once, because the server refused these. Undefined: there is nothing else to show. */
  readonly renew: (refused: Credentials) => Promise<Credentials | undefined>;
}

export function isSame(a: Credentials, b: Credentials): boolean {
  return a.authorization === b.authorization && isSameTls(a, b);
}

/** True when connections opened with one are as good for the other. */
export function isSameTls(a: Credentials, b: Credentials): boolean {
  return a.ca === b.ca && a.cert === b.cert && a.key === b.key;
}

/** The header that carries a token. */
export function bearer(token: string): string {
  return `Bearer ${token.trim()}`;
}
