import { type Instruction, type Stage, wholeStage } from "./read-dockerfile.ts";

const NON_ROOT = "65532:65532";
const EXEC_FORM = /^\[.*\]$/;
/** A name, an optional digest, and a tag that says more than "the newest". */
const PINNED = /^[a-z0-9./-]+:(?!latest)[\w.-]+(@sha256:[0-9a-f]{64})?$/;
const LABELS = ["title", "description", "licenses", "version", "revision"];
/** A stage that becomes an image only says what is in it; anything that runs needs a shell. */
const IN_AN_IMAGE = ["FROM", "ARG", "LABEL", "WORKDIR", "COPY", "ENV", "USER", "EXPOSE", "ENTRYPOINT"];

interface Rule {
  readonly name: string;
  /** What is wrong with a file; nothing: it keeps the rule. */
  readonly broken: (stages: readonly Stage[]) => readonly string[];
}

const all = (stages: readonly Stage[]): Instruction[] => stages.flatMap(({ instructions }) => instructions);
const last = (stages: readonly Stage[]): Instruction[] => wholeStage(stages, stages.at(-1)?.name ?? "");
const valuesOf = (instructions: readonly Instruction[], keyword: string): string[] =>
  instructions.filter((each) => each.keyword === keyword).map(({ value }) => value);

/** What a linter of Dockerfiles does not ask, and we do. */
export const IMAGE_RULES: readonly Rule[] = [
  {
    name: "stands on images with a tag that names a version or a variant",
    broken: (stages) =>
      stages
        .map(({ from }) => from)
        .filter((from) => !stages.some(({ name }) => name === from) && !PINNED.test(from)),
  },
  {
    name: "runs as 65532, and as nobody else",
    broken: (stages) => {
      const users = valuesOf(last(stages), "USER");
      return users.length === 1 && users[0] === NON_ROOT ? [] : [`USER ${users.join(", ")}`];
    },
  },
  {
    name: "copies files, and never unpacks or downloads them",
    broken: (stages) => valuesOf(all(stages), "ADD").map((value) => `ADD ${value}`),
  },
  {
    name: "starts by one ENTRYPOINT in exec form: there is no shell",
    broken: (stages) => {
      const entries = valuesOf(last(stages), "ENTRYPOINT");
      return entries.length === 1 && EXEC_FORM.test(entries[0] ?? "") ? [] : entries.concat("not one");
    },
  },
  {
    name: "runs nothing in the image itself, and leaves probes to Kubernetes",
    broken: (stages) =>
      last(stages)
        .map(({ keyword }) => keyword)
        .filter((keyword) => !IN_AN_IMAGE.includes(keyword)),
  },
  {
    name: "copies only from stages of its own, to absolute paths",
    broken: (stages) =>
      last(stages)
        .filter(({ keyword, flags, value }) => {
          const isOwn = stages.some(({ name }) => name === flags["from"]);
          return keyword === "COPY" && !(isOwn && (value.split(/\s+/).at(-1) ?? "").startsWith("/"));
        })
        .map(({ value }) => value),
  },
  {
    name: "has the labels of OCI",
    broken: (stages) => {
      const labels = valuesOf(last(stages), "LABEL").join(" ");
      return LABELS.filter((label) => !labels.includes(`org.opencontainers.image.${label}=`));
    },
  },
];
