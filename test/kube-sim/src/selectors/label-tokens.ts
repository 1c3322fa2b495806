export interface Token {
  readonly kind: "word" | "!" | "=" | "==" | "!=" | ">" | "<" | "(" | ")" | "," | "end";
  readonly text: string;
}

const TOKEN = /\s*(?:(?<sign>==|!=|[=!(),<>])|(?<word>[^\s=!(),<>]+))/y;

export function* tokensOf(text: string): Generator<Token> {
  const reader = new RegExp(TOKEN);
  for (let found = reader.exec(text); found !== null; found = reader.exec(text)) {
    const { sign, word } = found.groups ?? {};
    if (word !== undefined) yield { kind: "word", text: word };
    else if (isSign(sign)) yield { kind: sign, text: sign };
  }
  yield { kind: "end", text: "" };
}

function isSign(text: string | undefined): text is Exclude<Token["kind"], "word" | "end"> {
  return text !== undefined;
}
