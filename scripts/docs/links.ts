import { posix } from "node:path";
import type { Page } from "./markdown.ts";

const ELSEWHERE = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i;

/** One line for each link that leads nowhere. Addresses on the web are not tried. */
export function brokenLinks(pages: readonly Page[], exists: (path: string) => boolean): string[] {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  return pages.flatMap((page) =>
    page.links.flatMap(({ line, target }) => {
      if (ELSEWHERE.test(target)) return [];
      const [file = "", anchor] = decodeURI(target).split("#");
      const path = file === "" ? page.path : posix.normalize(posix.join(posix.dirname(page.path), file));
      const where = `${page.path}:${line}`;
      if (path.startsWith("..")) return [`${where}: ${target} leads out of the repository`];
      if (!exists(path)) return [`${where}: there is no ${path}`];
      const known = byPath.get(path)?.anchors;
      if (anchor === undefined || known === undefined || known.has(anchor)) return [];
      return [`${where}: ${path} has no heading for #${anchor}`];
    }),
  );
}
