export interface Page {
  /** Relative to the repository's root, with slashes. */
  readonly path: string;
  readonly links: readonly { readonly line: number; readonly target: string }[];
  /** What `#…` can point at. */
  readonly anchors: ReadonlySet<string>;
  readonly commands: readonly Command[];
}

/** A line that a reader is meant to type. */
export interface Command {
  readonly line: number;
  readonly text: string;
}

const FENCE = /^ *(?:```|~~~)(\w*)/;
const HEADING = /^#{1,6} +(.*)$/;
const LINK = /\[(?:[^\]\\]|\\.)*\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g;
const REFERENCE = /^ *\[[^\]]+\]: +(\S+)/;
const HTML_TARGET = /(?:src|href)="([^"]+)"/g;
const CODE_SPAN = /`([^`]+)`/g;
/** Languages of blocks whose lines are typed; in a `console` only those behind a prompt are. */
const TYPED = new Set(["sh", "bash", "console"]);

export function readPage(path: string, text: string): Page {
  const links: { line: number; target: string }[] = [];
  const anchors = new Set<string>();
  const commands: Command[] = [];
  for (const part of partsOf(text)) {
    if (part.language !== undefined) {
      commands.push(...typedIn(part.language, part.lines));
      continue;
    }
    for (const { line, text: content } of part.lines) {
      const heading = HEADING.exec(content)?.[1];
      if (heading !== undefined) anchors.add(freeAnchor(slugOf(heading), anchors));
      links.push(...linksIn(content).map((target) => ({ line, target })));
    }
    commands.push(...codeIn(part.lines));
  }
  return { path, links, anchors, commands };
}

/** Prose, or a block of code with its language. */
interface Part {
  readonly language: string | undefined;
  readonly lines: Command[];
}

function partsOf(text: string): readonly Part[] {
  let part: Part = { language: undefined, lines: [] };
  const parts = [part];
  for (const [index, content] of text.split("\n").entries()) {
    const fence = FENCE.exec(content);
    if (fence === null) {
      part.lines.push({ line: index + 1, text: content });
      continue;
    }
    part = { language: part.language === undefined ? (fence[1] ?? "") : undefined, lines: [] };
    parts.push(part);
  }
  return parts;
}

/** Code in the text, which may be broken into lines. */
function codeIn(lines: readonly Command[]): Command[] {
  const text = lines.map((each) => each.text).join("\n");
  return [...text.matchAll(CODE_SPAN)].map(({ index, 1: code = "" }) => ({
    line: (lines[0]?.line ?? 0) + text.slice(0, index).split("\n").length - 1,
    text: code.replaceAll(/\s+/g, " "),
  }));
}

function linksIn(content: string): string[] {
  const prose = content.replaceAll(CODE_SPAN, "");
  const reference = REFERENCE.exec(content)?.[1];
  const found = [...prose.matchAll(LINK), ...prose.matchAll(HTML_TARGET)].map(([, target = ""]) => target);
  return reference === undefined ? found : [...found, reference];
}

function typedIn(language: string, lines: readonly Command[]): Command[] {
  if (!TYPED.has(language)) return [];
  const whole = joined(lines);
  if (language !== "console") return whole;
  return whole
    .filter(({ text }) => text.startsWith("$ "))
    .map(({ line, text }) => ({ line, text: text.slice(2) }));
}

/** A backslash at the end of a line goes on in the next. */
function joined(lines: readonly Command[]): Command[] {
  const whole: Command[] = [];
  let isGoingOn = false;
  for (const { line, text } of lines) {
    const last = isGoingOn ? whole.pop() : undefined;
    isGoingOn = text.endsWith("\\");
    const own = isGoingOn ? text.slice(0, -1) : text;
    whole.push(last === undefined ? { line, text: own } : { line: last.line, text: `${last.text} ${own}` });
  }
  return whole;
}

/** As GitHub makes them. */
function slugOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}

function freeAnchor(slug: string, taken: ReadonlySet<string>): string {
  if (!taken.has(slug)) return slug;
  let count = 1;
  while (taken.has(`${slug}-${count}`)) count++;
  return `${slug}-${count}`;
}
