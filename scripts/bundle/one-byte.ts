import type { Plugin } from "rolldown";

/** What ASCII does not have. Latin-1 would fit into one byte, but Node reads a file that is not plain ASCII into two. */
const WIDE = /[\u0080-\uffff]/g;

/**
 * V8 keeps a program's text in memory, with two bytes for every character as soon as one of them needs two. There are a
 * few dashes and arrows in our messages: written as escapes, they cost a megabyte less.
 */
export function oneByte(): Plugin {
  return {
    name: "one-byte",
    renderChunk: (code) =>
      code.replace(WIDE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`),
  };
}
