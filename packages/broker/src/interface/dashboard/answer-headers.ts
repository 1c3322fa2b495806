const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Sent with every response. The policy prevents injected scripts from running. */
const ALWAYS: readonly string[] = [
  "Content-Security-Policy",
  POLICY,
  "X-Content-Type-Options",
  "nosniff",
  "Referrer-Policy",
  "no-referrer",
  "Cross-Origin-Opener-Policy",
  "same-origin",
  "Cross-Origin-Resource-Policy",
  "same-origin",
];

/** `immutable` for files that have a digest of their content in their name. */
export type CachePolicy = "no-store" | "no-cache" | "immutable";

const CACHE: Readonly<Record<CachePolicy, string>> = {
  "no-store": "no-store",
  "no-cache": "no-cache",
  immutable: "public, max-age=31536000, immutable",
};

/** Names and values, one after the other. */
export function responseHeaders(cachePolicy: CachePolicy): readonly string[] {
  return [...ALWAYS, "Cache-Control", CACHE[cachePolicy]];
}
