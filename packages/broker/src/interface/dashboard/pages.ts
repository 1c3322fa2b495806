import { readdir, readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, sep } from "node:path";
import { Fault, type Log } from "@resource-broker/base";

/** `immutable` for files that have a digest of their content in their name. */
type CachePolicy = "no-store" | "no-cache" | "immutable";

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

interface StaticFile {
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

/** Sent with every response, also of calls. The policy prevents injected scripts from running. */
const ALWAYS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": POLICY,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
};

const CACHE: Readonly<Record<StaticFile["cachePolicy"], string>> = {
  "no-store": "no-store",
  "no-cache": "no-cache",
  immutable: "public, max-age=31536000, immutable",
};

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** The files of the dashboard, for everybody who may reach its port: data is behind the calls. */
export interface Pages {
  readonly setHeaders: (response: ServerResponse) => void;
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void;
}

export interface PagesDeps {
  /** Throws the Fault of a request that gets no page. */
  readonly check: (request: IncomingMessage) => void;
  readonly log: Log;
}

export function createPages(files: StaticFiles, { check, log }: PagesDeps): Pages {
  const fileFor = (request: IncomingMessage, response: ServerResponse): StaticFile => {
    check(request);
    const { method, url = "", headers } = request;
    if (method !== "GET" && method !== "HEAD") {
      response.setHeader("Allow", "GET, HEAD");
      throw new Fault("method-not-allowed", "this address takes GET, HEAD");
    }
    const [path = ""] = url.split("?", 1);
    const file = files.find(path, String(headers["accept-encoding"] ?? ""));
    if (file === undefined) throw new Fault("not-found", "there is no such page");
    return file;
  };

  return {
    setHeaders: (response) => {
      for (const [name, value] of Object.entries(ALWAYS)) response.setHeader(name, value);
    },
    answer: (request, response) => {
      try {
        const { type, content, encoding, cachePolicy } = fileFor(request, response);
        response.writeHead(200, {
          "Content-Type": type,
          "Content-Length": content.length,
          "Cache-Control": CACHE[cachePolicy],
          Vary: "Accept-Encoding",
          ...(encoding === undefined ? {} : { "Content-Encoding": encoding }),
        });
        response.end(request.method === "HEAD" ? undefined : content);
      } catch (error) {
        const fault =
          error instanceof Fault ? error : new Fault("internal", "the broker failed; its log says why");
        if (fault !== error) log.error({ url: request.url, err: error }, fault.message);
        const page = errorPage(fault);
        response.writeHead(fault.status, {
          "Content-Type": "text/html; charset=utf-8",
          "Content-Length": Buffer.byteLength(page),
        });
        response.end(page);
      }
    },
  };
}

/** An error page without styles and scripts, for when the dashboard's pages are not available. */
function errorPage({ message }: Fault): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Resource Broker</title>
</head>
<body>
<h1>Resource Broker</h1>
<p>${text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? "")}</p>
</body>
</html>
`;
}
