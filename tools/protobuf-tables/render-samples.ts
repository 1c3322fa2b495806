interface Answer {
  readonly oracle: string;
  readonly objects: readonly { readonly name: string }[];
}

/** Go's answer with one object on each line, so that a changed object is a changed line in a review. */
export function renderSamples(text: string, isWanted: (name: string) => boolean): string {
  const answer: unknown = JSON.parse(text);
  if (!isAnswer(answer)) throw new Error("the Go program answers another question");
  const { oracle, objects, ...rest } = answer;
  const lines = objects.filter(({ name }) => isWanted(name)).map((object) => JSON.stringify(object));
  const members = Object.entries({ oracle, ...rest }).map(
    ([name, value]) => `"${name}": ${JSON.stringify(value)}`,
  );
  return `{\n${members.join(",\n")},\n"objects": [\n${lines.join(",\n")}\n]\n}\n`;
}

function isAnswer(value: unknown): value is Answer {
  return typeof value === "object" && value !== null && "objects" in value;
}
