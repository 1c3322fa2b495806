/** Client credentials and the CA of the API server at one time. */
export interface Credentials {
  readonly authorization?: string;
  /** PEM. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Source of credentials; they may change at any time. */
export interface CredentialSource {
  readonly current: () => Promise<Credentials>;
  /** Reads the credentials again because the server refused these. Undefined: there are no others. */
  readonly renew: (refused: Credentials) => Promise<Credentials | undefined>;
}

export function isSame(a: Credentials, b: Credentials): boolean {
  return a.authorization === b.authorization && isSameTls(a, b);
}

/** True when both can use the same connections. */
export function isSameTls(a: Credentials, b: Credentials): boolean {
  return a.ca === b.ca && a.cert === b.cert && a.key === b.key;
}

export function bearer(token: string): string {
  return `Bearer ${token.trim()}`;
}
