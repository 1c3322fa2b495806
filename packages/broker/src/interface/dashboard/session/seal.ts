import { createHmac, createPrivateKey, hkdfSync, timingSafeEqual } from "node:crypto";

const PURPOSE = "resource-broker dashboard session 1";
const KEY_BYTES = 32;
/** Allowed in a cookie, and not used in fields. */
const SEPARATOR = "~";

/** Seals fields for a browser. Every process with the same key can open them. */
export interface Seal {
  /** No field may contain `~`. */
  readonly seal: (words: readonly string[]) => string;
  /** Undefined: sealed with another key, or changed since. */
  readonly open: (sealed: string) => readonly string[] | undefined;
}

export interface SealDeps {
  /** The broker's own, as PEM: it outlives a restart, every replica has it, and it is kept safe anyway. */
  readonly privateKey: () => string;
  /** Separates ledgers that share a key: a seal of another realm is invalid. */
  readonly realm: () => string;
}

export function createSeal({ privateKey, realm }: SealDeps): Seal {
  let derived: { readonly from: string; readonly within: string; readonly key: Buffer } | undefined;

  const key = (): Buffer => {
    const [from, within] = [privateKey(), realm()];
    if (derived?.from !== from || derived.within !== within)
      derived = { from, within, key: keyFrom(from, within) };
    return derived.key;
  };

  const macOf = (text: string): string => createHmac("sha256", key()).update(text).digest("base64url");

  return {
    seal: (fields) => {
      const text = fields.join(SEPARATOR);
      return `${text}${SEPARATOR}${macOf(text)}`;
    },
    open: (sealed) => {
      const end = sealed.lastIndexOf(SEPARATOR);
      if (end === -1) return undefined;
      const text = sealed.slice(0, end);
      return isSame(sealed.slice(end + 1), macOf(text)) ? text.split(SEPARATOR) : undefined;
    },
  };
}

/** The key itself counts, not how it is written down: PEM knows several ways. */
function keyFrom(pem: string, realm: string): Buffer {
  const secret = createPrivateKey(pem).export({ format: "der", type: "pkcs8" });
  return Buffer.from(hkdfSync("sha256", secret, realm, PURPOSE, KEY_BYTES));
}

/** Compares as text and in constant time. */
function isSame(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
