import { readdir, readFile } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import { Fault } from "@resource-broker/base";

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
type CachePolicy = "no-store" | "no-cache" | "immutable";

const CACHE: Readonly<Record<CachePolicy, string>> = {
  "no-store": "no-store",
  "no-cache": "no-cache",
  immutable: "public, max-age=31536000, immutable",
};

/** Names and values, one after the other. */
export function responseHeaders(cachePolicy: CachePolicy): readonly string[] {
  return [...ALWAYS, "Cache-Control", CACHE[cachePolicy]];
}

const INDEX = "/index.html";
/** The build puts a digest of the content into each name here. */
const HASHED = "/assets/";
/** Pages of one thing, whose name may have dots in it. The build puts no file there. */
const PAGE_OF_ONE = /^\/(?:fleet|reservations|decisions)\/[^/]+\/?$/;
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};
const ENCODINGS = [
  { name: "br", suffix: ".br" },
  { name: "gzip", suffix: ".gz" },
] as const;

export interface StaticFile {
  readonly type: string;
  readonly cachePolicy: CachePolicy;
  readonly content: Buffer;
  /** Absent: as it is. */
  readonly encoding?: string;
}

/** The built pages, in memory: a few hundred kilobytes. Request paths never reach the disk. */
export interface StaticFiles {
  /** Undefined: there is no such file. What cannot be a file is a page, and every page begins with the same file. */
  readonly find: (path: string, acceptEncoding: string | undefined) => StaticFile | undefined;
}

/** Reads the first of the folders that has the pages. */
export async function readStaticFiles(folders: readonly string[]): Promise<StaticFiles> {
  for (const folder of folders) {
    const files = await readFolder(folder);
    if (files.has(INDEX)) return { find: (path, accepted) => find(files, path, accepted ?? "") };
  }
  throw new Fault(
    "invalid",
    "--dashboard-bind-address: the dashboard's pages are not built; build them with npm run dashboard:build, or leave the flag out",
  );
}

async function readFolder(folder: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    files.set(file.slice(folder.length).split(sep).join("/").replace(/^\/*/, "/"), await readFile(file));
  }
  return files;
}

function find(files: ReadonlyMap<string, Buffer>, path: string, accepted: string): StaticFile | undefined {
  const name = isPage(path) ? INDEX : path;
  const type = TYPES[extname(name)];
  const plain = files.get(name);
  if (plain === undefined || type === undefined) return undefined;
  const cachePolicy = cachePolicyOf(name);
  for (const { name: encoding, suffix } of ENCODINGS) {
    const content = accepts(accepted, encoding) ? files.get(`${name}${suffix}`) : undefined;
    if (content !== undefined) return { type, cachePolicy, content, encoding };
  }
  return { type, cachePolicy, content: plain };
}

function isPage(path: string): boolean {
  return PAGE_OF_ONE.test(path) || !path.slice(path.lastIndexOf("/")).includes(".");
}

function cachePolicyOf(name: string): CachePolicy {
  if (name.startsWith(HASHED)) return "immutable";
  return name === INDEX ? "no-store" : "no-cache";
}

/** `br;q=0` means no. */
function accepts(header: string, encoding: string): boolean {
  return header.split(",").some((part) => {
    const [name = "", weight = ""] = part.split(";");
    return name.trim().toLowerCase() === encoding && !/^\s*q=0(?:\.0*)?\s*$/.test(weight);
  });
}
